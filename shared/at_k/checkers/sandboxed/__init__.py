"""What runs in a sandbox. It imports nothing of at_k, and is imported there without it."""
