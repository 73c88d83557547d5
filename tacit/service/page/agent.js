// The view of one agent: each function shows one part of what the service says of it, and touches nothing else.

import { drawRewards } from "./chart.js";
import { SEVERITIES, VERDICTS, count, fill, find, heatCell, interval, make, percent, setText, share, tableHead, word } from "./parts.js";

/** Show all that is said of an agent. */
export function showAgent(view) {
  showVerdict(view);
  showFacts(view);
  showFindings(view.status.findings);
  showRewards(view);
  showProgress(view.status.progress);
  showMeanings(view.meanings);
  showContexts(view);
  fill(find("recent"), view.recent, showRecent);
  showHealth(view);
}

function showVerdict({ status, answer }) {
  const [kind, sign] = VERDICTS[status.verdict];
  find("verdict").className = `verdict ${kind}`;
  setText("agent-name", status.name);
  setText("verdict-sign", sign);
  setText("verdict-word", status.verdict);
  setText("verdict-answer", answer);
  setText("verdict-basis", status.basis);
}

function showFacts({ status, stage }) {
  const { explored } = status.progress;
  setText("fact-stage", status.stage);
  setText("fact-ended", `${count(status.ended)}`);
  setText("fact-open", count(status.open));
  setText("fact-explored", explored === null || status.ended === 0 ? "not known" : `${count(explored)} (${percent(Math.min(explored / status.ended, 1))})`);
  setText("stage-words", stage);
}

function showFindings(findings) {
  const raised = findings.filter((each) => each.severity !== "info");
  const remarks = findings.filter((each) => each.severity === "info");
  fill(find("findings"), raised, () => (raised.length ? raised.map(finding) : [make("li", {}, "Nothing speaks against it.")]));
  fill(find("remarks"), remarks, () => remarks.map(finding));
  setText("remarks-count", String(remarks.length));
  find("remarks-box").hidden = remarks.length === 0;
}

function finding({ code, severity, where, evidence, remedy }) {
  const [kind, sign] = SEVERITIES[severity];
  const name = code.replaceAll("-", " ");
  return make("li", { class: `finding ${kind}` },
    make("strong", {}, `${sign}: ${name}`),
    ...(where ? [make("p", { class: "small", dir: "auto" }, where)] : []),
    make("p", { dir: "auto" }, evidence),
    make("p", {}, make("b", {}, "What to do: "), make("bdi", {}, remedy)));
}

function showRewards({ rewards, held_rewards, lately, held, baseline, uniform, status }) {
  setText("rewards-words", rewardWords(lately, held, baseline, uniform, status));
  drawRewards(find("chart"), rewards, held_rewards, uniform);
  find("legend-held").hidden = held === null;
  setText("legend-held-what", baseline ? "by the baseline" : "at random");
  find("legend-uniform").hidden = uniform === null;
  const heldOut = (each) => (held === null ? [] : [make("td", { class: "number" }, each.held === null ? "none" : interval(each.held))]);
  fill(find("windows"), [rewards, held !== null], () => [
    tableHead("#episodes", "#decoded", "#reward", ...(held === null ? [] : ["#held out"])),
    make("tbody", {}, ...rewards.map((each) => make("tr", {},
      make("td", { class: "number" }, `${count(each.first)} to ${count(each.last)}`),
      make("td", { class: "number" }, count(each.decoded)),
      make("td", { class: "number" }, interval(each)), ...heldOut(each)))),
  ]);
}

const MISTRUST = {
  "cannot work": "As things stand these numbers mean nothing: see the findings above. ",
  "not known yet": "Do not rely on these numbers yet: see the findings above. ",
};

/** Say what the picture shows, and no more than it does. */
function rewardWords(lately, held, baseline, uniform, status) {
  if (lately === null) {
    return status.ended === 0 ? "Nobody has reacted yet." : "No reaction has been read as a reward or as none yet: first it must be learned what they mean.";
  }
  const trust = MISTRUST[status.verdict] ?? "";
  const now = `${trust}Lately it earns ${interval(lately)}, as it reads what people say.`;
  if (held !== null) {
    const how = baseline ? "go by the baseline" : "stay at random";
    const apart = `Episodes that are held out, and ${how}, earn ${interval(held)} (${count(held.episodes)} of them).`;
    return `${now} ${apart} ${trust === "" ? compare(lately, held, baseline ? "the baseline" : "chance") : ""}`;
  }
  if (uniform === null) return `${now} What choosing at random would earn cannot be told from the episodes so far.`;
  const part = uniform.covered < 0.9 ? ` that covers ${percent(uniform.covered)} of what that would do` : "";
  const random = `Choosing at random would earn about ${interval(uniform)} (an estimate${part}).`;
  return `${now} ${random} ${trust === "" ? compare(lately, uniform, "chance") : ""}`;
}

function compare(lately, other, name) {
  if (lately.low > other.high) return `It does better than ${name}.`;
  return lately.high < other.low ? `It does worse than ${name}.` : `A difference to ${name} cannot be seen yet.`;
}

function showProgress({ done, total, what, words, wanted }) {
  const bar = find("progress");
  bar.parentElement.hidden = total === null;
  if (total !== null) Object.assign(bar, { max: Math.max(total, 1), value: done });
  setText("progress-what", total === null ? "" : `${count(done)} of ${count(total)} ${what}`);
  fill(find("progress-words"), words, () => words.map((each) => make("p", {}, each)));
  fill(find("wanted"), wanted, () => (wanted.length === 0 ? [] : [
    tableHead("last state", "for whom", "#ended there", "#would settle it, about"),
    make("tbody", {}, ...wanted.map((each) => make("tr", {},
      make("td", {}, word(each.state)), make("td", {}, word(each.context)),
      make("td", { class: "number" }, count(each.told)),
      make("td", { class: "number" }, `${count(each.more)} more`)))),
  ]));
}

function showMeanings(meanings) {
  fill(find("meanings"), meanings, ({ places, more, examples }) => {
    if (places.length + examples.length === 0) return [make("p", { class: "faint" }, "Nothing has been read yet.")];
    const rest = more > 0 ? [make("p", { class: "faint" }, `and ${count(more)} more situations`)] : [];
    return [...places.map(place), ...(examples.length ? [exampleTable(examples)] : []), ...rest];
  });
}

function place({ state, context, tells, settled, doubt, words, actions, told }) {
  const doubtful = doubt > 0 ? `; with ${percent(doubt)} it is the other way round` : "";
  const tables = words.length === 0 ? [] : [
    make("table", {}, tableHead("people say", "#like a reward"), make("tbody", {}, ...words.map(wordRow))),
    make("table", {}, tableHead("after", "#pleases"), make("tbody", {}, ...actions.map(actionRow))),
  ];
  return make("section", { class: "place" },
    make("h3", {}, "In ", word(state), ", for ", word(context)),
    make("p", { class: "small faint" }, `${count(told)} told: ${tells}; ${settled ? "settled" : "not settled yet"}${doubtful}`),
    ...tables);
}

function wordRow({ word: text, like, said }) {
  const head = make("th", { scope: "row" }, word(text), times(said));
  return make("tr", {}, head, like === null ? make("td", { class: "number faint" }, "not known") : heatCell(like));
}

const times = (n) => make("span", { class: "faint small" }, n === 1 ? " once" : ` ${count(n)} times`);

function actionRow({ action, pleases, low, high, tried }) {
  const head = make("th", { scope: "row" }, word(action), times(tried));
  return make("tr", {}, head, heatCell(pleases, `${share(pleases)} [${share(low)}, ${share(high)}]`));
}

function exampleTable(examples) {
  return make("section", { class: "place whole" }, make("h3", {}, "What was said lately, and how it was read"),
    make("table", {}, tableHead("somebody said", "#read as"), make("tbody", {}, ...examples.map(exampleRow))));
}

function exampleRow({ feedback, context, action, reward }) {
  const head = make("th", { scope: "row" }, word(feedback),
    make("span", { class: "faint small" }, " after ", word(action), " for ", word(context)));
  return make("tr", {}, head, heatCell(reward));
}

/** List whom a policy can be asked for; the choice stays as it is while lists grow. */
function showContexts({ contexts, has_policy }) {
  find("policy-box").hidden = !has_policy || contexts.length === 0;
  find("policy-none").hidden = has_policy && contexts.length > 0;
  setText("policy-none", has_policy ? "Nobody has come yet." : "In conversations what can be said comes with each turn, so nothing can be listed beforehand; the latest episodes show what was chosen, with its chance.");
  const select = find("context");
  if (document.activeElement === select) return;
  const chosen = select.value;
  fill(select, contexts, () => contexts.map(({ text, value }) => make("option", { value: JSON.stringify(value) }, text)));
  if ([...select.options].some((each) => each.value === chosen)) select.value = chosen;
}

/** Show what an agent takes to be best. */
export function showPolicy({ policy }) {
  fill(find("policy"), policy, () => policy.map(({ state, actions }) => make("section", { class: "place" },
    make("h3", {}, "In ", word(String(state))),
    make("table", {}, tableHead("does", "#with chance"), make("tbody", {}, ...actions.map(({ action, probability }) =>
      make("tr", {}, make("th", { scope: "row" }, word(String(action))), heatCell(probability)))))) ));
}

function showRecent(recent) {
  return recent.length ? recent.map(episode) : [make("p", { class: "faint" }, "None has ended yet.")];
}

const SENTENCE = 24;

/** Return what was done in an episode: in a row where states and actions are names, turn by turn where they are sentences. */
function turns(context, steps) {
  const chance = (step) => (step.probability === null ? "" : ` (${percent(step.probability)})`);
  if (steps.every((step) => Math.max(step.state.length, step.action.length) <= SENTENCE)) {
    const row = steps.flatMap((step, n) => [n ? " → " : "", word(step.state), ": ", word(step.action), chance(step)]);
    return [make("p", { class: "small" }, "for ", word(context), "; ", ...row)];
  }
  const list = steps.map((step) => make("li", {},
    make("p", {}, make("span", { class: "faint" }, "seen: "), word(step.state)),
    make("p", {}, make("span", { class: "faint" }, "done: "), word(step.action), chance(step))));
  return [make("p", { class: "small" }, "for ", word(context)), make("ol", { class: "turns small" }, ...list)];
}

function episode({ episode: id, begun, context, steps, ended, feedback, outcome, decoded }) {
  const said = ended !== "feedback" ? make("i", {}, ended) : feedback === null ? make("i", {}, "silence") : word(feedback, "said");
  const read = decoded === null ? "not read" : `read as ${share(decoded.reward)} [${share(decoded.low)}, ${share(decoded.high)}]`;
  const known = outcome === null ? "" : `, known outcome ${outcome}`;
  const time = make("time", { datetime: new Date(1000 * begun).toISOString() }, new Date(1000 * begun).toLocaleString());
  return make("div", { class: "episode" },
    make("p", {}, said, ` — ${read}${known}`),
    ...turns(context, steps),
    make("p", { class: "small faint" }, "episode ", word(id), ", ", time));
}

function showHealth({ status, health }) {
  const waiting = health.waiting === 0 ? "everything is on disk" : `${count(health.waiting)} events wait for the disk`;
  setText("health", `Journal at ${count(status.position)}, ${waiting}; ${count(health.listeners)} watching; Tacit ${status.version}, seed ${status.seed}.`);
}
