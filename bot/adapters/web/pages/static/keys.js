// One key for each button that names one; never while somebody writes, nor with Ctrl, Alt or Meta.
"use strict";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const button = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (button) {
    event.preventDefault();
    button.click();
  }
});
