() => {
  document.documentElement.classList.remove("mounting");
  // Mark the result as the previous one, from a change of the inputs until the next one is there.
  const body = document.querySelector("#body");
  const update = () => {
    // Gradio shows the state of the last request beside the sentence, and hides it at the end.
    const waits = body.querySelector("#result [data-testid=status-tracker].minimal:not(.hide)");
    const busy = String(Boolean(waits));
    body.querySelectorAll("#result, #details").forEach((result) => {
      if (result.ariaBusy !== busy) result.ariaBusy = busy;
    });
  };
  // The elements are in the order in which they are seen, for the focus and for screen readers.
  // Gradio removes the details with all that it finds before them: nothing is put there.
  const [inputs, answer] = ["inputs", "answer"].map((id) => document.getElementById(id));
  const isWide = matchMedia("(min-width: 900px)"); // as in page.css
  const arrange = () => (isWide.matches ? inputs.after(answer) : inputs.before(answer));
  isWide.addEventListener("change", arrange);
  arrange();

  let isPlanned = false; // An answer changes hundreds of elements: look once for each frame.
  const plan = () => {
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(() => {
      isPlanned = false;
      update();
    });
  };
  const changes = { attributeFilter: ["class"], childList: true, subtree: true };
  new MutationObserver(plan).observe(body, changes);
  update();

  // The lines that describe a mark of a chart are its tooltip.
  const tooltip = document.body.appendChild(document.createElement("div"));
  tooltip.id = "tooltip";
  tooltip.hidden = true;
  document.addEventListener("pointerover", (event) => {
    const mark = event.target.closest(".chart [role=graphics-symbol][aria-label]");
    tooltip.hidden = !mark;
    if (!mark) return;
    tooltip.textContent = mark.ariaLabel;
    const place = mark.getBoundingClientRect();
    const left = Math.min(place.right + 8, innerWidth - tooltip.offsetWidth - 8);
    tooltip.style.left = `${scrollX + Math.max(8, left)}px`;
    tooltip.style.top = `${scrollY + place.bottom + 8}px`;
  });

  // Charts are drawn for the width of the page.
  const field = document.querySelector("#inches input");
  let planned;
  addEventListener("resize", () => { // once the visitor has let go of the border of the window
    clearTimeout(planned);
    planned = setTimeout(() => {
      const inches = String(%(inches)s);
      if (field.value === inches) return;
      field.value = inches;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }, 200);
  });
  // A link that is pasted into the address of an open page.
  addEventListener("hashchange", () => location.reload());

  // Gradio cannot paste several cells. Pass them on with the selected cell to a hidden field.
  document.addEventListener("paste", (event) => {
    const cell = event.target.closest("#table [data-row]");
    const text = event.clipboardData.getData("text");
    const isEdited = event.target.matches("textarea, input");
    if (!cell || !text || (isEdited && !/[\t\n]/.test(text.trim()))) return;
    event.preventDefault();
    if (isEdited) event.target.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    const [row, column] = [Number(cell.dataset.row), Number(cell.dataset.col)];
    const field = document.querySelector("#pasted textarea, #pasted input");
    field.value = JSON.stringify({ row, column, text, time: Date.now() });
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
