// Small pieces of a page. What people wrote is put in as text, never as markup, and keeps its own direction.

export const find = (id) => document.getElementById(id);

/** Return a new element with attributes and children; children that are strings become text. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const LONG = 70;

/** Return somebody's word: isolated, so that neither its direction nor its length disturbs what stands around it. */
export function word(text, more = "") {
  const long = text.length > LONG ? { title: text } : {};
  const kind = text.length > LONG ? "long" : "";
  return make("bdi", { class: `word ${kind} ${more}`.trim(), dir: "auto", ...long }, text === "" ? "(empty)" : text);
}

const shown = new WeakMap();

/** Fill an element only if what it shows has changed: what is read, focused or selected stays as it is. */
export function fill(element, value, draw) {
  const key = JSON.stringify(value);
  if (shown.get(element) === key) return false;
  shown.set(element, key);
  element.replaceChildren(...draw(value));
  return true;
}

export function setText(id, text) {
  const element = find(id);
  if (element.textContent !== text) element.textContent = text;
}

export const count = (n) => n.toLocaleString("en");
export const share = (x) => x.toFixed(2);
export const percent = (x) => `${Math.round(100 * x)} %`;
export const interval = (each) => `${share(each.mean)} [${share(each.low)}, ${share(each.high)}]`;

/** Return a table cell that shows a share in [0, 1] as a bar, a colour and a number. */
export function heatCell(value, text) {
  const cell = make("td", { class: "number heat" }, text ?? share(value));
  cell.style.setProperty("--share", String(Math.min(Math.max(value, 0), 1)));
  return cell;
}

/** Return the head of a table; names that begin with # are of columns of numbers. */
export function tableHead(...names) {
  const cells = names.map((name) =>
    name.startsWith("#") ? make("th", { scope: "col", class: "number" }, name.slice(1)) : make("th", { scope: "col" }, name),
  );
  return make("thead", {}, make("tr", {}, ...cells));
}

/** How a verdict looks: a class for its colours, and a sign for those who do not see them. */
export const VERDICTS = {
  works: ["sure", "✓"],
  "works with caution": ["caution", "!"],
  "not known yet": ["unknown", "?"],
  "cannot work": ["cannot", "✕"],
};
export const SEVERITIES = {
  error: ["cannot", "✕ cannot work"],
  unknown: ["unknown", "? not known yet"],
  caution: ["caution", "! caution"],
  info: ["unknown", "remark"],
};
