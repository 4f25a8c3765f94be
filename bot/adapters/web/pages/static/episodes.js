// Counts the chosen rows, and chooses a range with Shift.
"use strict";
const boxes = [...document.querySelectorAll("input[name=chosen]")];
const count = document.querySelector("[data-count]");
let last = null;
for (const box of boxes) {
  box.addEventListener("click", (event) => {
    if (event.shiftKey && last !== null) {
      const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
      for (const each of boxes.slice(from, to + 1)) each.checked = box.checked;
    }
    last = box;
    const chosen = boxes.filter((each) => each.checked).length;
    count.textContent = chosen ? `${chosen} chosen` : "";
  });
}
