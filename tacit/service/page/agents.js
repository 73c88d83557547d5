// The first view: all agents, and how to make one.

import { VERDICTS, count, fill, find, make, word } from "./parts.js";
import { Refused, ask, hasKey } from "./stream.js";

const ONE_STEP = `{"layout": {"states": [["visit"]],
    "actions": ["ask", "show", "offer"],
    "contexts": ["new", "back"],
    "feedback": ["thanks", "hm", "bye"]}}`;
const TWO_STEPS = `{
  "layout": {
    "states": [["start"], ["cart", "list"]],
    "actions": ["ask", "show", "offer"],
    "contexts": ["new", "back"],
    "feedback": ["thanks", "hm", "bye"]
  }
}
`;

/** Show what is said of all agents. */
export function showAgents({ agents }) {
  find("empty").hidden = agents.length > 0;
  fill(find("agents"), agents, () => agents.map(card));
}

function card(agent) {
  const [kind, sign] = VERDICTS[agent.verdict];
  const counts = `${count(agent.ended)} episodes ended, ${count(agent.open)} open`;
  const warnings = agent.warnings === 1 ? "1 thing to know" : `${agent.warnings} things to know`;
  const link = make("a", { class: "card", href: `#/${encodeURIComponent(agent.name)}` },
    make("b", {}, word(agent.name)),
    make("span", { class: `chip ${kind}` }, `${sign} ${agent.verdict}`),
    make("p", { class: "small" }, `${agent.stage}; ${counts}; ${warnings}`));
  return make("li", {}, link);
}

/** Write the calls of the empty page for this service, and the example of the form. */
export function writeExamples() {
  const base = location.href.split("#")[0].replace(/\/$/, "");
  const key = hasKey() ? ' -H "Authorization: Bearer $TACIT_KEY"' : "";
  const post = (path, body) => `curl${key} ${base}/v1/agents/shop/${path} \\\n  -d '${JSON.stringify(body)}'`;
  find("curl-make").textContent = `curl${key} -X PUT ${base}/v1/agents/shop -d '${ONE_STEP}'`;
  find("curl-decide").textContent = post("decide", { context: "new", state: "visit", id: "visit-1" });
  find("curl-hear").textContent = post("episodes/visit-1/feedback", { feedback: "thanks" });
  if (find("make-text").value === "") find("make-text").value = TWO_STEPS;
}

/** Make the agent of the form; show in words why the service refuses. */
export async function makeAgent(event) {
  event.preventDefault();
  const [name, text] = [find("make-name").value.trim(), find("make-text").value];
  const fault = name === "" ? "Give it a name." : null;
  if (fault !== null) return refuseForm(fault, "make-name");
  const kind = text.trimStart().startsWith("{") ? "application/json" : "application/toml";
  find("make-button").disabled = true;
  try {
    await ask(`v1/agents/${encodeURIComponent(name)}`, { method: "PUT", body: text, headers: { "content-type": kind } });
    refuseForm(null);
    location.hash = `#/${encodeURIComponent(name)}`;
  } catch (error) {
    const words = error instanceof Refused ? error.message : "The service cannot be reached; try again.";
    refuseForm(words, error.field === "name" ? "make-name" : "make-text");
  } finally {
    find("make-button").disabled = false;
  }
}

function refuseForm(words, at) {
  find("make-error").hidden = words === null;
  find("make-error").textContent = words ?? "";
  for (const id of ["make-name", "make-text"]) find(id).toggleAttribute("aria-invalid", id === at);
  if (at !== undefined) find(at).focus();
}
