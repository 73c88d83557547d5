// The page: which view is shown follows from the address, what it shows from a stream of the service.

import { showAgent, showPolicy } from "./agent.js";
import { makeAgent, showAgents, writeExamples } from "./agents.js";
import { find, setText } from "./parts.js";
import { Refused, ask, keepKey, listen } from "./stream.js";

const VIEWS = ["agents-view", "agent-view", "key-form", "waiting"];
const LINKS = { live: "live", broken: "reconnecting", paused: "paused", over: "not watching" };

const state = { name: null, stop: null, paused: false, policyTimer: null };

function show(view) {
  for (const id of VIEWS) find(id).hidden = id !== view;
}

function setLink(how) {
  find("link").className = `link ${how}`;
  setText("link", LINKS[how]);
}

function complain(words) {
  find("trouble").hidden = words === null;
  setText("trouble", words ?? "");
}

/** Return the agent that the address names, null for the list of all. */
function named() {
  const match = /^#\/(.+)$/.exec(location.hash);
  return match === null ? null : decodeURIComponent(match[1]);
}

/** Watch what the address says, in place of what was watched before. */
function start() {
  state.stop?.abort();
  if (state.paused || document.hidden) return setLink("paused");
  state.stop = new AbortController();
  const { signal } = state.stop;
  const path = state.name === null ? "v1/watch" : `v1/agents/${encodeURIComponent(state.name)}/watch`;
  setLink("broken");
  listen(path, (kind, data) => told(kind, data), setLink, signal).catch(refused);
}

function told(kind, data) {
  complain(kind === "trouble" || kind === "gone" ? data.error.message : null);
  if (kind === "agents") {
    showAgents(data);
    show("agents-view");
  } else if (kind === "agent") {
    show("agent-view");
    showAgent(data);
    if (data.has_policy) (find("policy").childElementCount ? updatePolicy : askPolicy)();
  } else if (kind === "gone") {
    state.stop.abort();
    setLink("over");
  }
}

/** The service does not let us watch: it wants a key, another key, or there is no such agent. */
function refused(error) {
  setLink("over");
  if (!(error instanceof Refused)) return complain("The page cannot go on; load it again.");
  if (error.status === 404) {
    show("waiting");
    setText("waiting", "");
    return complain(error.message);
  }
  if (error.status === 403) setText("key-words", `${error.message} Use a key with the scope admin.`);
  show("key-form");
  find("key").focus();
}

/** Ask what the agent would do for the chosen context, at most once a second, and in the end once more. */
function updatePolicy() {
  state.policyTimer ??= setTimeout(() => { state.policyTimer = null; askPolicy(); }, 1000);
}

async function askPolicy() {
  const [name, context] = [state.name, find("context").value];
  if (name === null || context === "") return;
  const path = `v1/agents/${encodeURIComponent(name)}/policy?context=${encodeURIComponent(context)}`;
  const policy = await ask(path).catch(() => null); // the stream says what is wrong; the policy stays as it was
  if (policy !== null && name === state.name && context === find("context").value) showPolicy(policy);
}

function route() {
  const name = named();
  if (name !== state.name) window.scrollTo(0, 0);
  state.name = name;
  document.title = name === null ? "Tacit" : `${name} · Tacit`;
  find("policy").replaceChildren();
  complain(null);
  writeExamples();
  setText("waiting", "Looking …");
  show("waiting");
  start();
}

function togglePause() {
  state.paused = !state.paused;
  find("pause").setAttribute("aria-pressed", String(state.paused));
  start();
}

function useKey(event) {
  event.preventDefault();
  keepKey(find("key").value.trim());
  find("key").value = "";
  route();
}

/** Go to the content; the address is that of a view, so it stays. */
function skip(event) {
  event.preventDefault();
  find("main").focus();
}

window.addEventListener("hashchange", route);
document.addEventListener("visibilitychange", start);
find("skip").addEventListener("click", skip);
find("pause").addEventListener("click", togglePause);
find("key-form").addEventListener("submit", useKey);
find("make-form").addEventListener("submit", makeAgent);
find("context").addEventListener("change", askPolicy);
route();
