"use strict";
// Keys for those who have scripts; everything works without them, too.
(() => {
  const form = document.getElementById("answer");
  const writing = () => ["TEXTAREA", "INPUT", "SELECT"].includes(document.activeElement?.tagName);
  let sent = false;
  const press = (button) => { if (button && !sent) { button.click(); } };
  document.addEventListener("submit", (event) => {
    if (sent) { event.preventDefault(); }
    sent = true;
  });
  window.addEventListener("pageshow", () => { sent = false; });
  const open = (id, field) => {
    const details = document.getElementById(id);
    if (details) { details.open = true; details.querySelector(field)?.focus(); }
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) { return; }
    if (event.key === "Escape" && writing()) { document.activeElement.blur(); return; }
    if (writing()) { return; }
    const go = document.getElementById("go");
    if (go && event.key === "Enter" && document.activeElement === document.body) { go.click(); return; }
    if (!form) { return; }
    const buttons = [...form.querySelectorAll("button[name=value]")];
    if (form.dataset.kind === "choice" && event.key === "ArrowLeft") { event.preventDefault(); press(buttons[0]); }
    else if (form.dataset.kind === "choice" && event.key === "ArrowRight") { event.preventDefault(); press(buttons[1]); }
    else if (form.dataset.kind === "scale" && /^[1-9]$/.test(event.key)) { press(buttons[Number(event.key) - 1]); }
    else if (event.key === "u") { press(document.querySelector("#undo button")); }
    else if (event.key === "c") { event.preventDefault(); open("comment", "textarea"); }
    else if (event.key === "s") { event.preventDefault(); open("skip", "input[type=radio]"); }
  });
})();
