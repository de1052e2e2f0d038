// Where a page is opened as a file, browsers refuse workers. The search, which is one, then runs in
// a hidden frame. The theme looks for a script of this name.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.scope = frame.contentWindow;
      const load = (source) =>
        new Promise((resolve, reject) => {
          const script = frame.contentDocument.createElement("script");
          Object.assign(script, {src: source, onload: resolve, onerror: reject});
          frame.contentDocument.body.append(script);
        });
      this.scope.importScripts = (...sources) =>
        sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      this.scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
      this.loaded = load(url);
    }
    postMessage(data) {
      this.loaded.then(() => this.scope.dispatchEvent(new MessageEvent("message", {data})));
    }
  };
}
