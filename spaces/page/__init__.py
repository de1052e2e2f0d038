"""The page that all Spaces share. Each app.py describes one metric and calls `interface.serve`."""
