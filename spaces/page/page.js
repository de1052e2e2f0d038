// Says whether the result belongs to the inputs. The style sheet shows the state of the page.
// It is "" if the result does. Each change of an input gives the inputs a new version.
const page = (() => {
  const root = document.documentElement;
  let version = 0; // of the inputs
  let asked = 0; // the version that was sent
  let active = 0; // the number of requests without an answer
  const show = (state) => {
    root.dataset.state = state;
    for (const id of ["answer", "details"]) {
      const part = document.getElementById(id);
      if (part) part.inert = state !== "";
    }
  };
  const settle = (state) => {
    active = Math.max(0, active - 1);
    if (active > 0) return;
    if (asked === version) show(state);
    else if (root.dataset.state === "scoring") show("changed");
  };
  const begin = (values, scrolls = false) => {
    version += 1;
    asked = version;
    active += 1;
    show("scoring");
    const top = document.getElementById("top");
    if (scrolls && top.getBoundingClientRect().top < 0) top.scrollIntoView();
    return values;
  };
  const isOpened = () => location.hash.length > 1 || /[?&](?!__)\w/.test(location.search);
  const open = () => {
    if (!isOpened()) {
      if (!asked) show(""); // otherwise a request was faster than this event
      return "";
    }
    return location.hash.length > 1 ? location.hash : location.search;
  };
  const mark = (state) => {
    version += 1;
    show(state || (active > 0 ? "scoring" : "changed"));
  };
  // Gradio waits without end for a server that has ended.
  setInterval(async () => {
    if (root.dataset.state !== "scoring") return;
    try {
      await fetch("favicon.ico", { cache: "no-store" });
    } catch {
      active = 0;
      version += 1;
      show("failed");
    }
  }, 3000);
  const done = (result, problem) => {
    // The elements are drawn in the next frame.
    requestAnimationFrame(() => requestAnimationFrame(() => settle("")));
    const link = problem ? null : /data-link="([\w=-]*)"/.exec(result);
    const hash = link && link[1] ? `#${link[1]}` : "";
    if (asked !== version || !asked || hash === location.hash) return [];
    history.pushState(null, "", `${location.pathname}${location.search}${hash}`);
    return [];
  };
  const copyLink = async () => {
    const isLink = location.hash.length > 1;
    try {
      await navigator.clipboard.writeText(location.href);
    } catch { // the page is in a frame, or not served by https
      prompt("Copy this link:", location.href);
    }
    return isLink ? "The link is copied" : "Copied, without the samples: they are too large";
  };
  // Tells the server which entry of a menu is selected.
  const followMenu = (menu, trigger) => {
    menu.addEventListener("change", (event) => trigger("select", { value: event.target.value }));
  };
  // Tells the server which row of a table is selected: by a click, or by the arrow keys.
  const followRows = (table, trigger) => {
    const select = (row) => {
      if (!row) return;
      for (const other of row.parentNode.children) other.ariaSelected = other === row;
      row.focus();
      trigger("select", { value: row.dataset.index });
    };
    table.addEventListener("click", (event) => select(event.target.closest("tbody tr")));
    table.addEventListener("keydown", (event) => {
      const row = event.target.closest("tbody tr");
      const next = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
      if (!row || !(next || event.key === "Enter")) return;
      event.preventDefault();
      select(next ? row[next] : row);
    });
  };
  // At the key that moves the focus, a list of Gradio would open again after it is closed.
  const leave = (event) => {
    if (event.key === "Tab" && event.target.role === "combobox") event.stopPropagation();
  };
  addEventListener("keydown", leave, true);
  // A file that is too large is refused before it is sent.
  const receive = (event) => {
    const files = [...(event.dataTransfer || event.target).files];
    if (!event.target.closest("#files") || !files.length) return;
    const isLarge = files.some((file) => file.size > page.maxBytes);
    if (isLarge) event.stopImmediatePropagation();
    if (isLarge) event.preventDefault();
    mark(isLarge ? "large" : "");
  };
  // Gradio's own event does not follow a text that is pasted into a field.
  const change = (event) => event.target.closest("#inputs, #asking") && mark();
  addEventListener("input", change, true);
  addEventListener("drop", receive, true);
  addEventListener("change", (event) => event.target.files && receive(event), true);
  // Back and forward, and a link that is pasted into the address of an open page.
  addEventListener("popstate", () => location.reload());
  if (isOpened()) root.dataset.state = "scoring";
  return { begin, open, mark, done, fail: () => settle("failed"), copyLink, followMenu, followRows };
})();
