// The picture of decoded rewards: windows of episodes as a line with its band, those that are held out as another,
// dotted, and uniform play's estimate as a level, dashed.
// It is drawn for the width that there is, so that words keep their size on a phone.

import { count, fill, interval, share } from "./parts.js";

const SVG = "http://www.w3.org/2000/svg";
const ROOM = { left: 34, right: 12, top: 10, bottom: 40 };

function shape(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

const drawings = new WeakMap();
const resized = new ResizeObserver((entries) => entries.forEach(({ target }) => redraw(target)));

/** Show windows, those held out and uniform play's estimate in a box, now and whenever its width changes. */
export function drawRewards(box, windows, held, uniform) {
  if (!drawings.has(box)) resized.observe(box);
  drawings.set(box, { windows, held, uniform });
  redraw(box);
}

function redraw(box) {
  const { windows, held, uniform } = drawings.get(box);
  const size = { width: box.clientWidth, height: box.clientHeight };
  if (size.width === 0) return;
  fill(box, { windows, held, uniform, size }, () => [draw(windows, held, uniform, size)]);
}

function draw(windows, held, uniform, { width, height }) {
  const last = windows.length ? windows.at(-1).last : 100;
  const x = (episode) => ROOM.left + (episode / last) * (width - ROOM.left - ROOM.right);
  const y = (reward) => ROOM.top + (1 - reward) * (height - ROOM.top - ROOM.bottom);
  const svg = shape("svg", { role: "img", "aria-label": inWords(windows, held, uniform), viewBox: `0 0 ${width} ${height}` });
  svg.append(...axes(x, y, last, width, height));
  if (uniform !== null) svg.append(...level(uniform, x, y, last));
  svg.append(...curve(held, x, y, "-held"), ...curve(windows, x, y, ""));
  if (windows.length === 0) svg.append(shape("text", { class: "tick", x: width / 2, y: height / 2, "text-anchor": "middle" }, "nothing decoded yet"));
  return svg;
}

function axes(x, y, last, width, height) {
  const rewards = [0, 0.25, 0.5, 0.75, 1].flatMap((reward) => [
    shape("path", { class: "axis", d: `M${ROOM.left} ${y(reward)}H${width - ROOM.right}` }),
    shape("text", { class: "tick", x: ROOM.left - 6, y: y(reward) + 4, "text-anchor": "end" }, String(reward)),
  ]);
  const step = roundStep(last / Math.max(width / 110, 2));
  const episodes = [];
  for (let n = 0; n <= last; n += step) {
    const anchor = n === 0 ? "start" : x(n) > width - 50 ? "end" : "middle";
    episodes.push(shape("text", { class: "tick", x: x(n), y: height - ROOM.bottom + 17, "text-anchor": anchor }, count(n)));
  }
  const name = shape("text", { class: "tick", x: width / 2, y: height - 6, "text-anchor": "middle" }, "episodes, in the order in which they ended");
  return [...rewards, ...episodes, name];
}

/** Return 1, 2 or 5 times a power of ten, not below a number. */
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= least);
}

function level({ mean, low, high }, x, y, last) {
  const [left, right] = [x(0), x(last)];
  return [
    shape("rect", { class: "band-uniform", x: left, y: y(high), width: right - left, height: Math.max(y(low) - y(high), 1) }),
    shape("path", { class: "line-uniform", d: `M${left} ${y(mean)}H${right}` }),
  ];
}

function curve(windows, x, y, kind) {
  if (windows.length === 0) return [];
  const middle = ({ first, last }) => x((first + last) / 2);
  const upper = windows.map((each) => `${middle(each)},${y(each.high)}`);
  const lower = windows.map((each) => `${middle(each)},${y(each.low)}`).reverse();
  const line = windows.map((each) => `${middle(each)},${y(each.mean)}`);
  const dots = windows.length > 40 ? [] : windows.map((each) => shape("circle", { class: `dot${kind}`, cx: middle(each), cy: y(each.mean), r: 3 }));
  return [
    shape("polygon", { class: `band${kind}`, points: [...upper, ...lower].join(" ") }),
    shape("polyline", { class: `line${kind}`, points: line.join(" ") }),
    ...dots,
  ];
}

function inWords(windows, heldOut, uniform) {
  if (windows.length === 0) return "Nothing has been decoded yet.";
  const [first, last] = [windows[0], windows.at(-1)];
  const random = uniform === null ? "" : ` Choosing at random is estimated at ${interval(uniform)}.`;
  const held = heldOut.length === 0 ? "" : ` Those held out earned ${interval(heldOut.at(-1))}.`;
  return `Decoded reward from ${share(first.mean)} at first to ${interval(last)} in the latest episodes.${held}${random}`;
}
