// @ts-check
/**
 * Following stories as they happen, for all tabs of one browser together (ADR 0135).
 *
 * A browser opens six connections to one server over HTTP/1.1, counted over all tabs; then everything waits, also commands. So
 * one worker that all tabs share holds at most four streams, one a story and role, and asks each second for what is new of
 * further stories. Where there is no such worker, each tab has a stream of its own, and asks each second once it was silent.
 *
 * This file is both: the page imports it, and the worker runs it. It imports nothing, because import maps do not reach workers.
 * Always holds: what a follower is told begins with a whole view, and goes on with every record behind it, each once.
 *
 * @typedef {{kind: "view"|"record"|"signal"|"progress", data: string, id: string}} Block what the server sent
 * @typedef {{kind: "connection", isOpen: boolean, isRefused: boolean}} Connection
 * @typedef {(told: Block|Connection) => void} Tell
 * @typedef {{onView(view: any): void, onRecord(record: any): void, onSignal(told: any): void,
 *   onConnection(isOpen: boolean, isRefused?: boolean): void, onProgress?(told: {k: number, of: number}): void}} Handlers
 */

/** Of six connections, two stay free for pages and commands. */
const streamsMax = 4;
/** How long apart two questions for what is new are. */
const pollMilliseconds = 1000;
/** A stream that says nothing for so long may be one of many that wait: its tab asks instead. */
const silentMilliseconds = 3000;
const retrySecondsMax = 15;
/** A tab that was closed without a word does not answer. Those that sleep are let go too, and follow again when they wake. */
const callMilliseconds = 20_000;
const callsMissedMax = 3;

/** @param {string} address @param {{[name: string]: string}} query */
function withQuery(address, query) {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value);
  return url.href;
}

/**
 * A stream that comes back by itself. The browser resumes a broken one behind the last event it got; one that the server
 * refuses is asked for again, later and later. Returns what ends it.
 * @param {string} address @param {string} last the id of the last block that came, or nothing @param {Tell} tell
 */
function streamed(address, last, tell) {
  let isEnded = false;
  let waits = 1;
  /** @type {EventSource|null} */
  let stream = null;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;
  const open = () => {
    const opened = new EventSource(withQuery(address, { last_event_id: last }));
    stream = opened;
    /** @param {Block["kind"]} kind */
    const take = (kind) => (/** @type {MessageEvent} */ event) => {
      if (kind === "view" || kind === "record") last = event.lastEventId;
      tell({ kind, data: event.data, id: last });
    };
    opened.onopen = () => {
      waits = 1;
      tell({ kind: "connection", isOpen: true, isRefused: false });
    };
    opened.addEventListener("view", take("view"));
    opened.addEventListener("signal", take("signal"));
    opened.addEventListener("progress", take("progress"));
    opened.onmessage = take("record");
    opened.onerror = () => {
      const isRefused = opened.readyState === EventSource.CLOSED;
      tell({ kind: "connection", isOpen: false, isRefused });
      if (!isRefused || isEnded) return;
      opened.close();
      timer = setTimeout(open, waits * 1000);
      waits = Math.min(waits * 2, retrySecondsMax);
    };
  };
  open();
  return () => {
    isEnded = true;
    clearTimeout(timer);
    stream?.close();
  };
}

/** The blocks of a piece of a stream. @param {string} text @param {string} last @returns {Block[]} */
export function blocksIn(text, last) {
  /** @type {Block[]} */
  const blocks = [];
  for (const part of text.split("\n\n")) {
    const block = { kind: /** @type {Block["kind"]} */ ("record"), data: "", id: last };
    for (const line of part.split("\n")) {
      const [name, value] = [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)];
      if (name === "event") block.kind = /** @type {Block["kind"]} */ (value);
      else if (name === "id") last = block.id = value;
      else if (name === "data") block.data = value;
    }
    if (block.data) blocks.push(block);
  }
  return blocks;
}

/** What is new behind a block, or everything. @param {string} address @param {string} last @returns {Promise<Block[]>} */
async function newBlocks(address, last) {
  const answer = await fetch(withQuery(address, { last_event_id: last, once: "true" }), { cache: "no-store" });
  if (!answer.ok) throw new Error(String(answer.status), { cause: "refused" });
  return blocksIn(await answer.text(), last);
}

/**
 * The same without a stream: what is new is asked for each second. Returns what ends it.
 * @param {string} address @param {string} last @param {Tell} tell
 */
function polled(address, last, tell) {
  let isEnded = false;
  let waits = 1;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;
  const ask = async () => {
    try {
      const blocks = await newBlocks(address, last);
      if (isEnded) return;
      waits = 1;
      tell({ kind: "connection", isOpen: true, isRefused: false });
      for (const block of blocks) {
        last = block.id;
        tell(block);
      }
    } catch (wrong) {
      if (isEnded) return;
      tell({ kind: "connection", isOpen: false, isRefused: wrong instanceof Error && wrong.cause === "refused" });
      waits = Math.min(waits * 2, retrySecondsMax);
    }
    timer = setTimeout(ask, waits * pollMilliseconds);
  };
  void ask();
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}

// In the page

/** @type {MessagePort|null|undefined} none: this browser has no such workers; undefined: not asked for yet */
let port;
let followers = 0;
/** @type {Map<number, {follow: () => void, take: Tell}>} */
const following = new Map();

/** The worker of all tabs, if there is one. @param {string} workerAddress */
function workerPort(workerAddress) {
  if (port !== undefined) return port;
  port = null;
  try {
    if (typeof SharedWorker === "undefined") return port;
    const worker = new SharedWorker(workerAddress, { type: "module", name: "glasshouse" });
    port = worker.port;
    worker.onerror = () => {
      port = null; // It could not be loaded: each tab for itself.
      for (const { follow } of following.values()) follow();
    };
  } catch {
    return (port = null);
  }
  port.onmessage = ({ data: { of, told } }) => {
    if (told === "are you there?") port?.postMessage({ here: [...following.keys()] });
    else if (told === "unknown") following.get(of)?.follow();
    else following.get(of)?.take(told);
  };
  addEventListener("pagehide", () => port?.postMessage({ leave: [...following.keys()] }));
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) for (const { follow } of following.values()) follow();
  });
  return port;
}

/**
 * Follow a story. Returns what ends it.
 * @param {string} address of its stream @param {string} workerAddress of this file @param {Handlers} handlers
 */
export function followed(address, workerAddress, handlers) {
  const take = told(handlers);
  const number = (followers += 1);
  let end = () => {};
  const follow = () => {
    const shared = workerPort(workerAddress);
    end();
    if (shared) {
      shared.postMessage({ follow: address, as: number });
      end = () => shared.postMessage({ leave: [number] });
    } else end = followedAlone(address, take);
  };
  following.set(number, { follow, take });
  follow();
  return () => {
    following.delete(number);
    end();
  };
}

/** @param {Handlers} handlers @returns {Tell} */
const told = (handlers) => (told) => {
  if (told.kind === "connection") handlers.onConnection(told.isOpen, told.isRefused);
  else if (told.kind === "view") handlers.onView(JSON.parse(told.data));
  else if (told.kind === "record") handlers.onRecord(JSON.parse(told.data));
  else if (told.kind === "progress") handlers.onProgress?.(JSON.parse(told.data));
  else handlers.onSignal(JSON.parse(told.data));
};

/** Follow a story by a stream of this tab's own, and without it once it is silent. @param {string} address @param {Tell} take */
export function followedAlone(address, take) {
  let last = "";
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      end();
      end = polled(address, last, take);
    }, silentMilliseconds);
  };
  let end = streamed(address, "", (told) => {
    wait();
    if (told.kind === "view" || told.kind === "record") last = told.id;
    take(told);
  });
  wait();
  return () => {
    clearTimeout(timer);
    end();
  };
}

// In the worker

/** One story as one role sees it, and the tabs that follow it. */
class Story {
  /** @param {string} address */
  constructor(address) {
    this.address = address;
    /** @type {Map<MessagePort, Map<number, Block[]|null>>} tab -> its followers: null, or what waits until a view is there */
    this.followers = new Map();
    this.isStream = false;
    this.last = "";
    this.connection = /** @type {Connection|null} */ (null);
    this.hasView = false;
    this.end = () => {};
  }

  /** Follow it by a stream, or without one. @param {boolean} isStream */
  begin(isStream) {
    this.end();
    this.isStream = isStream;
    this.end = (isStream ? streamed : polled)(this.address, this.last, (told) => this.take(told));
  }

  /** @param {Block|Connection} told */
  take(told) {
    if (told.kind === "connection") this.connection = told;
    else if (told.kind === "view" || told.kind === "record") this.last = told.id;
    const isView = told.kind === "view";
    this.hasView ||= isView;
    for (const [tab, waiting] of this.followers) {
      for (const [number, blocks] of waiting) {
        if (blocks && isView) waiting.set(number, null);
        if (blocks && told.kind === "record") blocks.push(told);
        else tab.postMessage({ of: number, told });
      }
    }
  }

  /** @param {MessagePort} tab @param {number} number */
  add(tab, number) {
    const waiting = this.followers.get(tab) ?? new Map();
    this.followers.set(tab, waiting);
    waiting.set(number, []);
    if (this.connection) tab.postMessage({ of: number, told: this.connection });
    if (this.hasView) void this.bring(tab, number);
  }

  /** Bring a follower that came later to where the others are. @param {MessagePort} tab @param {number} number */
  async bring(tab, number) {
    let seconds = 1;
    const isWaiting = () => Boolean(this.followers.get(tab)?.get(number));
    while (isWaiting()) {
      try {
        const blocks = await newBlocks(this.address, "");
        if (!isWaiting()) return; // A view came meanwhile, or it left.
        const missed = this.followers.get(tab)?.get(number) ?? [];
        this.followers.get(tab)?.set(number, null);
        const at = Number(blocks[0]?.id ?? 0);
        const later = missed.filter(({ id }) => Number(id) > at);
        for (const told of [...blocks, ...later]) tab.postMessage({ of: number, told });
        return;
      } catch (wrong) {
        const isRefused = wrong instanceof Error && wrong.cause === "refused";
        tab.postMessage({ of: number, told: { kind: "connection", isOpen: false, isRefused } });
        await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
        seconds = Math.min(seconds * 2, retrySecondsMax);
      }
    }
  }
}

/** All stories that tabs follow. */
class Hub {
  constructor() {
    /** @type {Map<string, Story>} */
    this.stories = new Map();
    /** @type {Map<MessagePort, number>} tab -> how many calls it has not answered */
    this.tabs = new Map();
    setInterval(() => this.call(), callMilliseconds);
  }

  /** @param {MessagePort} tab */
  connect(tab) {
    this.tabs.set(tab, 0);
    tab.onmessage = ({ data }) => {
      this.tabs.set(tab, 0);
      if (data.follow) this.follow(tab, data.follow, data.as);
      for (const number of data.leave ?? []) this.leave(tab, number);
      for (const number of data.here ?? []) if (!this.storyOf(tab, number)) tab.postMessage({ of: number, told: "unknown" });
    };
  }

  /** @param {MessagePort} tab @param {string} address @param {number} number */
  follow(tab, address, number) {
    this.leave(tab, number);
    const known = this.stories.get(address);
    const story = known ?? new Story(address);
    this.stories.set(address, story);
    story.add(tab, number);
    if (!known) story.begin(this.streams() < streamsMax);
  }

  streams() {
    return [...this.stories.values()].filter(({ isStream }) => isStream).length;
  }

  /** @param {MessagePort} tab @param {number} number */
  storyOf(tab, number) {
    return [...this.stories.values()].find(({ followers }) => followers.get(tab)?.has(number));
  }

  /** @param {MessagePort} tab @param {number} number */
  leave(tab, number) {
    const story = this.storyOf(tab, number);
    const own = story?.followers.get(tab);
    if (!story || !own) return;
    own.delete(number);
    if (!own.size) story.followers.delete(tab);
    if (story.followers.size) return;
    story.end();
    this.stories.delete(story.address);
    // A stream is free: the story that has waited for one longest gets it.
    const next = [...this.stories.values()].find(({ isStream }) => !isStream);
    if (next && this.streams() < streamsMax) next.begin(true);
  }

  /** Ask every tab whether it is still there. */
  call() {
    for (const [tab, missed] of this.tabs) {
      if (missed < callsMissedMax) {
        this.tabs.set(tab, missed + 1);
        tab.postMessage({ told: "are you there?" });
        continue;
      }
      this.tabs.delete(tab);
      for (const { followers } of [...this.stories.values()]) for (const number of [...(followers.get(tab)?.keys() ?? [])]) this.leave(tab, number);
    }
  }
}

if ("onconnect" in globalThis) {
  const hub = new Hub();
  Object.assign(globalThis, { onconnect: (/** @type {MessageEvent} */ { ports }) => hub.connect(ports[0]) });
}
