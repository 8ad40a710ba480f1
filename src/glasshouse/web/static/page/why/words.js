// @ts-check
/** Why something was said, in words. */

/** @typedef {{event: any, who: string, came: string|null, by: string, cited_by: string, lines: any[], tools: any[], cites: any[], missing: string[]}} Link */

const small = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
/** Small numbers as words. @param {number} count */
export const inWords = (count) => small[count] ?? String(count);

/** What a link does, in a few words. @param {Link} link @param {string} cited the numbers of what it cites */
export function doingOf({ event }, cited) {
  const kind = /** @type {string} */ (event.kind);
  if (kind === "user.injected") return "disturbs the show";
  if (kind === "world.observed") return "sets the scene";
  if (kind === "turn.started") return `turn ${event.turn} begins`;
  if (kind === "judge.verdict") return cited ? `rules on ${cited}` : "rules";
  const does = { "agent.spoke": "speaks", "agent.thought": "thinks", "agent.reflected": "reflects", "agent.passed": "stays silent", "agent.failed": "did not answer", "loop.suspected": "had nothing new to say" }[kind];
  const words = does ?? kind.replaceAll(/[._]/g, " ");
  return cited ? `${words}, cites ${cited}` : words;
}

/**
 * How the cause reached whoever answered it. `cited`: whether the cause is also what it cites.
 * @param {Link} link
 * @param {Link|undefined} cause
 * @param {{number: (id: string) => string}} told
 * @returns {{icon: string, text: string}}
 */
export function connectorOf(link, cause, { number }) {
  const cited = link.cites.map((event) => number(event.id)).filter(Boolean);
  const rests = cited.length ? `rests on ${listed(cited)}, which it cites` : "";
  const isDisturbed = cause?.event.kind === "user.injected";
  /** @type {{icon: string, text: string}} */
  let came = { icon: "arrow", text: "follows from it" };
  if (link.came === "turn") came = { icon: "turn", text: "it was its turn" };
  else if (isDisturbed && link.came !== "wire") came = { icon: "bolt", text: "was told, as it listens for disturbances" };
  else if (link.came === "channel") came = { icon: "ear", text: `heard it on #${link.by}` };
  else if (link.came === "graph") came = { icon: "ear", text: "heard it, as everybody in the graph did" };
  else if (link.came === "wire") came = { icon: "wire", text: "was handed it by a wire" };
  else if (link.came === "tool") came = { icon: "tool", text: link.by ? `came back from the tool ${link.by}` : "came back from a tool" };
  else if (link.came === "asked") came = { icon: "question", text: "was asked for an answer" };
  return rests ? { icon: "quote", text: `${rests}; ${came.text}` } : came;
}

/** What stands between two links that are no cause and effect: the second is a line that a verdict above cites. @param {string} verdict its number */
export const citesConnector = (verdict) => ({ icon: "quote", text: verdict ? `${verdict} cites this line, too` : "the verdict cites this line, too" });

/** @param {string[]} parts */
const listed = (parts) => (parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts[0]);

/** What began it. @param {string} began */
export function beganWords(began) {
  const words = /** @type {{[began: string]: string}} */ ({
    disturbance: "began with a disturbance",
    opening: "began with the opening scene",
    turn: "began with a turn",
    world: "began with a scene",
    outside: "began outside of the run",
    further: "has older causes, too",
  });
  return words[began] ?? "";
}

/** What a link cost. @param {any} event @returns {{calls: number, input: number, output: number, usd: number|null, milliseconds: number, models: string[]}} */
export function costOf(event) {
  const calls = event.model?.calls ?? [];
  let [input, output, milliseconds] = [0, 0, 0];
  /** @type {number|null} */
  let usd = 0;
  for (const call of calls) {
    const usage = call.usage ?? {};
    input += (usage.input_uncached ?? 0) + (usage.cache_read ?? 0) + (usage.cache_write ?? 0);
    output += usage.output ?? 0;
    milliseconds += call.milliseconds ?? 0;
    usd = usd === null || call.usd === null || call.usd === undefined ? null : usd + call.usd;
  }
  return { calls: calls.length, input, output, usd, milliseconds, models: [...new Set(/** @type {string[]} */ (calls.map((/** @type {any} */ call) => call.model)))] };
}
