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
  const [answer, setAnswer] = useState(/** @type {Forecast} */ (null));
  const asked = JSON.stringify(change ?? null);
  useEffect(() => {
    setAnswer(null);
    if (!change) return undefined;
    let isOver = false;
    const timer = setTimeout(async () => {
      const answer = await forecast(change.what, change.fields);
      if (!isOver) setAnswer(answer);
    }, waitMilliseconds);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [asked]);
  return answer;
}

/** @param {{forecast: Forecast, words?: string}} props words: what to say where graphs stay as they are */
export function ForecastLine({ forecast, words }) {
  if (!forecast) return html`<p class="forecast is-open" aria-live="polite">…</p>`;
  const isQuiet = forecast.text === "Graphs stay as they are";
  return html`<p class=${`forecast${forecast.isRefused ? " is-refused" : isQuiet ? " is-quiet" : ""}`} aria-live="polite">
    ${icon(forecast.isRefused ? "error" : forecast.text.startsWith("Merges") ? "merge" : forecast.text.startsWith("Splits") ? "split" : "check")}
    <span>${isQuiet && words ? words : forecast.text}</span>
  </p>`;
}
