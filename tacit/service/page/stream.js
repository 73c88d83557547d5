// What the service says: answers in JSON, and server-sent events. Events are read with fetch, as EventSource sends no key.

const KEY = "tacit-key";
const SILENT = 30_000; // milliseconds after which a stream is taken to be broken; it says something every ten seconds
const LONGEST_WAIT = 15_000;

/** The service refused: `status`, `code` and, if one part of the request is at fault, its `field`. */
export class Refused extends Error {
  constructor(status, told) {
    super(told?.message ?? `the service answered ${status}`);
    Object.assign(this, { status, code: told?.code, field: told?.field });
  }
}

export const keepKey = (key) => sessionStorage.setItem(KEY, key);
export const hasKey = () => sessionStorage.getItem(KEY) !== null;

function withKey(headers = {}) {
  const key = sessionStorage.getItem(KEY);
  return key === null ? headers : { ...headers, Authorization: `Bearer ${key}` };
}

async function refusal(response) {
  const body = await response.json().catch(() => null);
  return new Refused(response.status, body?.error);
}

/** Return the JSON that a path answers; raise Refused if it refuses. */
export async function ask(path, options = {}) {
  const response = await fetch(path, { ...options, headers: withKey(options.headers), cache: "no-store" });
  if (!response.ok) throw await refusal(response);
  return response.status === 204 ? null : response.json();
}

/** Listen to a path until the signal says stop: `told(kind, data)` for each event, `linked(how)` as the link changes. */
export async function listen(path, told, linked, signal) {
  let wait = 1000;
  const last = { id: "" };
  while (!signal.aborted) {
    try {
      await follow(path, last, told, signal, () => {
        wait = 1000;
        linked("live");
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused && [401, 403, 404].includes(error.status)) throw error;
      if (error instanceof Refused) told("trouble", { error: { message: error.message } });
    }
    if (signal.aborted) return;
    linked("broken");
    await pauseFor(wait, signal);
    wait = Math.min(2 * wait, LONGEST_WAIT);
  }
}

/** Read one stream to its end; `alive()` whenever something comes. */
async function follow(path, last, told, signal, alive) {
  const control = new AbortController();
  const stop = () => control.abort();
  signal.addEventListener("abort", stop);
  let alarm = setTimeout(stop, SILENT);
  try {
    const headers = withKey(last.id ? { "Last-Event-ID": last.id } : {});
    const response = await fetch(path, { headers, signal: control.signal, cache: "no-store" });
    if (!response.ok) throw await refusal(response);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      alive();
      clearTimeout(alarm);
      alarm = setTimeout(stop, SILENT);
      text = tellAll(text + value, last, told);
    }
  } finally {
    clearTimeout(alarm);
    signal.removeEventListener("abort", stop);
  }
}

/** Tell the events that a text holds whole, and return what is left of it. */
function tellAll(text, last, told) {
  const parts = text.split("\n\n");
  for (const part of parts.slice(0, -1)) {
    const fields = Object.fromEntries(part.split("\n").map(readField));
    if (fields.data === undefined) continue;
    last.id = fields.id ?? last.id;
    told(fields.event ?? "message", JSON.parse(fields.data));
  }
  return parts.at(-1);
}

function readField(line) {
  const at = line.indexOf(": ");
  return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 2)];
}

function pauseFor(milliseconds, signal) {
  return new Promise((done) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", () => { clearTimeout(timer); done(); }, { once: true });
  });
}
