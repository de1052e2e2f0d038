// Marks the result as the previous one, from a change of the inputs until its charts are drawn.
() => {
  const body = document.querySelector("#body");
  const results = body.querySelectorAll("#result, #details");
  const update = () => {
    // Gradio shows the state of the last request beside the sentence, and hides it at the end.
    const waits = body.querySelector("#result [data-testid=status-tracker].minimal:not(.hide)");
    const charts = [...body.querySelectorAll(".chart")].filter((chart) => chart.checkVisibility());
    const drawn = charts.every((chart) => chart.querySelector("svg.marks path"));
    const busy = String(Boolean(waits) || !drawn);
    results.forEach((result) => {
      if (result.ariaBusy !== busy) result.ariaBusy = busy;
    });
  };
  const changes = { attributeFilter: ["class"], childList: true, subtree: true };
  new MutationObserver(update).observe(body, changes);
  update();
}
