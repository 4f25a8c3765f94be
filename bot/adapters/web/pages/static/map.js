// Says below the map what a point is, and walks from point to point with the arrow keys: the map is one stop of Tab.
"use strict";
const map = document.querySelector("[data-map]");
const under = document.querySelector("[data-under]");
const points = map ? [...map.querySelectorAll("a[data-goal]")] : [];
const boxes = new Map();

function middle(point) {
  if (!boxes.has(point)) {
    const box = point.getBBox();
    boxes.set(point, [box.x + box.width / 2, box.y + box.height / 2]);
  }
  return boxes.get(point);
}

function tell(point) {
  const said = document.createElement("span");
  said.className = "dim";
  said.textContent = point.dataset.said;
  const goal = document.createElement("b");
  goal.textContent = point.dataset.goal;
  const answer = document.createElement("span");
  answer.textContent = point.dataset.answer;
  under.replaceChildren(said, goal, answer);
}

// The nearest point that lies more in this direction than beside it.
function next(from, x, y) {
  const [fromX, fromY] = middle(from);
  let best = null;
  let least = Infinity;
  for (const each of points) {
    const [eachX, eachY] = middle(each);
    const along = (eachX - fromX) * x + (eachY - fromY) * y;
    const beside = Math.abs((eachX - fromX) * y) + Math.abs((eachY - fromY) * x);
    if (each === from || along <= 0.5 || beside > along * 2) continue;
    if (along + 2 * beside < least) [best, least] = [each, along + 2 * beside];
  }
  return best;
}

const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
for (const each of points) {
  each.addEventListener("mouseenter", () => tell(each));
  each.addEventListener("focus", () => {
    for (const other of points) other.setAttribute("tabindex", "-1");
    each.setAttribute("tabindex", "0");
    tell(each);
  });
}
points[0]?.setAttribute("tabindex", "0");
map?.addEventListener("keydown", (event) => {
  const way = ways[event.key];
  const from = event.target.closest("a[data-goal]");
  if (!way || !from || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  next(from, ...way)?.focus();
});
