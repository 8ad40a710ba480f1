// @ts-check
/** What a change would do, told while it is chosen: the server is asked, and nothing is changed. */
import { html, useEffect, useState } from "page/html";
import { forecast } from "page/commands";
import { icon } from "page/icons";

const waitMilliseconds = 180;

/** @typedef {{text: string, isRefused: boolean}|null} Forecast null: not known yet */

/**
 * @param {{what: string, fields: any}|undefined} change
 * @returns {Forecast}
 */
export function useForecast(change) {
  const [told, setTold] = useState(/** @type {Forecast} */ (null));
  const asked = JSON.stringify(change ?? null);
  useEffect(() => {
    setTold(null);
    if (!change) return undefined;
    let isOver = false;
    const timer = setTimeout(async () => {
      const answer = await forecast(change.what, change.fields);
      if (!isOver) setTold(answer);
    }, waitMilliseconds);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [asked]);
  return told;
}

/** @param {{told: Forecast, words?: string}} props words: what to say where graphs stay as they are */
export function ForecastLine({ told, words }) {
  if (!told) return html`<p class="forecast is-open" aria-live="polite">…</p>`;
  const isQuiet = told.text === "Graphs stay as they are";
  return html`<p class=${`forecast${told.isRefused ? " is-refused" : isQuiet ? " is-quiet" : ""}`} aria-live="polite">
    ${icon(told.isRefused ? "error" : told.text.startsWith("Merges") ? "merge" : told.text.startsWith("Splits") ? "split" : "check")}
    <span>${isQuiet && words ? words : told.text}</span>
  </p>`;
}
