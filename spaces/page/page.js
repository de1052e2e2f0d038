// Keeps track of whether the result belongs to the inputs. The style sheet shows the state of the
// page: "" if the result belongs to the inputs, and otherwise "changed", "scoring", "failed",
// "large" or "unknown". Each change of an input gives the inputs a new version.
const page = (() => {
  const root = document.documentElement;
  let version = 0; // of the inputs
  let asked = 0; // the version of the inputs in the latest request, which is its number
  let link = location.hash; // of the latest result
  let storage = null; // a browser may forbid it in a frame of another site
  try {
    storage = sessionStorage;
  } catch {}
  const setState = (state) => {
    root.dataset.state = state;
    if (state === "") delete root.dataset.opening;
    if (state !== "changed" && state !== "large") delete root.dataset.samples;
    for (const id of ["answer", "details"]) {
      const part = document.getElementById(id);
      if (part) part.inert = state !== "";
    }
  };
  const showTop = () => {
    const top = document.getElementById("top");
    if (top.getBoundingClientRect().top < 0) top.scrollIntoView();
  };
  // Numbers a request. Its number is the first of the values that are sent.
  const begin = (values, scrolls = false) => {
    version += 1;
    asked = version;
    setState("scoring");
    if (scrolls) showTop();
    return [asked, ...values.slice(1)];
  };
  // Gradio knows these parameters.
  const unknown = /[?&](?!__|view=|footer=|deep_link=|session_hash=|logs=|embed=)\w/;
  // Returns the request in the address, and the text of the field: as it was before a reload.
  const open = (text) => {
    const [hash, kept] = JSON.parse(storage?.getItem("text") || "[]");
    storage?.removeItem("text");
    if (hash === location.hash && kept !== text) {
      mark("changed");
      return ["", kept];
    }
    if (location.hash.length > 1) return [location.hash, text];
    // Otherwise a request was faster than this event.
    if (!asked) setState(unknown.test(location.search) ? "unknown" : "");
    return ["", text];
  };
  // Shows that the inputs have changed.
  const mark = (state) => {
    version += 1;
    setState(state || (root.dataset.state === "scoring" ? "scoring" : "changed"));
  };
  // After another file is chosen, the style sheet hides what the page asked about the earlier one.
  const markFiles = (state) => {
    root.dataset.samples = "other";
    mark(state);
  };
  // Gradio waits without end for a server that has ended.
  setInterval(async () => {
    if (root.dataset.state !== "scoring") return;
    try {
      await fetch("favicon.ico", { cache: "no-store" });
    } catch {
      fail();
    }
  }, 3000);
  const fail = () => {
    version += 1; // so that an answer that comes later does not hide this
    setState("failed");
  };
  const done = (number, result, problem) => {
    if (number !== asked) return []; // a later request has begun
    const isCurrent = asked === version;
    // The elements are drawn in the next frame.
    requestAnimationFrame(() => requestAnimationFrame(() => {
      if (number === version) setState("");
      else if (number === asked && root.dataset.state === "scoring") setState("changed");
    }));
    const shared = problem ? null : /data-link="([\w=-]*)"/.exec(result);
    const hash = shared && shared[1] ? `#${shared[1]}` : "";
    if (!isCurrent || hash === location.hash) return [];
    link = hash;
    history.pushState(null, "", `${location.pathname}${location.search}${hash}`);
    return [];
  };
  const copyLink = async (button) => {
    if (!document.querySelector("#answer [data-link]").dataset.link) {
      button.textContent = "No link: the samples are too large for one. Share the file of this page.";
      return;
    }
    try {
      await navigator.clipboard.writeText(location.href);
    } catch { // the page is in a frame, or not served by https
      prompt("Copy this link:", location.href);
    }
    button.textContent = "The link is copied";
  };
  // With the key that moves the focus, a list of Gradio would open again after it is closed.
  const stopTabInLists = (event) => {
    if (event.key === "Tab" && event.target.role === "combobox") event.stopPropagation();
  };
  // Refuses a file that is too large before it is sent.
  const receiveFiles = (event) => {
    const files = [...(event.dataTransfer || event.target).files];
    if (!event.target.closest("#files") || !files.length) return;
    const isLarge = files.some((file) => file.size > page.maxBytes);
    if (isLarge) event.stopImmediatePropagation();
    if (isLarge) event.preventDefault();
    markFiles(isLarge ? "large" : "");
    if (isLarge) showTop(); // which says so
  };
  // Gradio's own event does not follow a text that is pasted into a field.
  const markEdit = (event) => {
    if (!event.target.closest("#inputs, #asking")) return;
    if (event.target.closest("#source, #text")) root.dataset.samples = "other";
    mark();
  };
  // Gradio loads the page again when a lost connection is back. The text of the field is kept for
  // that, unless the address holds it. Browsers keep about 5 MB.
  const keepText = () => {
    const text = document.querySelector("#text textarea")?.value;
    const isInLink = link.length > 1 && root.dataset.state === "";
    if (text?.length < 2e6 && !isInLink) storage?.setItem("text", JSON.stringify([link, text]));
  };
  addEventListener("keydown", stopTabInLists, true);
  addEventListener("pagehide", keepText);
  addEventListener("input", markEdit, true);
  addEventListener("drop", receiveFiles, true);
  addEventListener("change", (event) => event.target.files && receiveFiles(event), true);
  // Back and forward, and a link that is pasted into the address of an open page.
  addEventListener("popstate", () => location.reload());
  // The style sheet hides the example until the result of a link is there.
  if (location.hash.length > 1) Object.assign(root.dataset, { state: "scoring", opening: "" });
  return { begin, open, mark, markFiles, done, fail, copyLink };
})();
