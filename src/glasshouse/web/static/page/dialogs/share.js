// @ts-check
/** Share a run: one file that opens from disk, with or without everybody's thoughts; or a link to the moment shown. */
import { html, useEffect, useState } from "page/html";
import { linkTo } from "page/address";
import { icon } from "page/icons";
import { copy } from "page/copying";
import { closeDialog, head, isDirector, run, session, shown, source, view } from "page/store";
import { Button, Dialog, download, Field } from "page/ui";

const typingMilliseconds = 400;

/** @typedef {{name: string, blob: Blob}|{reason: string}|null} Made */

export function Share() {
  const [hasMinds, setMinds] = useState(false);
  const [part, setPart] = useState({ from: "", to: "" });
  const [isPart, setIsPart] = useState(false);
  const made = useFile({ minds: hasMinds || undefined, ...(isPart ? part : {}) });
  const file = made && "blob" in made ? made : null;
  const reason = made && "reason" in made ? made.reason : "";
  const save = () => {
    if (!file) return;
    download(file.name, file.blob);
    closeDialog();
  };
  const footer = html`<span><${Button} label=${`Copy link to ${shown.value}`} icon="link" onClick=${() => void copy(linkTo({ run: session.value.run, at: view()?.event_id }), "The link to this moment is copied.")} /></span>
    <${Button} label="Cancel" onClick=${closeDialog} />
    <${Button} label="Download" icon="download" kind="primary" type="submit" onClick=${() => {}} isDisabled=${!file} />`;
  return html`<${Dialog} title="Share this run" width=${560} onSubmit=${save} footer=${footer}>
    <p class="share-words">One file that opens from disk, in any browser. It shows every moment: the playbill, the timeline, the graph as it was, and each line with an address of its own. It asks no server and no model for anything.</p>
    <div class=${`share-file${reason ? " is-refused" : ""}`} aria-live="polite">
      ${icon(reason ? "error" : "share", 20)}
      <div><b>${file ? file.name : reason ? "This cannot be one file" : "The file is being made"}</b>
        <small>${reason || [counted(isPart), hasMinds ? "with thoughts and moods" : "without thoughts", "no prompts, nothing sealed"].join(", ")}</small></div>
      <span class="mono">${file ? size(file.blob.size) : ""}</span>
    </div>
    ${isDirector.value ? html`<label class="switch"><input type="checkbox" checked=${hasMinds} onChange=${(/** @type {any} */ event) => setMinds(event.target.checked)} />
      <span>With everybody’s thoughts<small>${run()?.state === "finished" ? "Whoever has the file reads every mind in it." : "The run continues: the file shows it until now."}</small></span></label>` : null}
    <label class="switch"><input type="checkbox" checked=${isPart} onChange=${(/** @type {any} */ event) => setIsPart(event.target.checked)} /><span>Only a part of it</span></label>
    ${isPart ? html`<div class="share-part">
      ${/** @type {const} */ (["from", "to"]).map((side) => html`<${Field} label=${side === "from" ? "From event" : "To event"}><input type="number" min="1" max=${head.value}
        placeholder=${side === "from" ? "1" : String(head.value)} value=${part[side]} onInput=${(/** @type {any} */ event) => setPart({ ...part, [side]: event.target.value })} /><//>`)}
    </div>` : null}
  <//>`;
}

/** @param {boolean} isPart */
const counted = (isPart) => (isPart ? `some of ${head.value.toLocaleString("en")} events` : `${head.value.toLocaleString("en")} events`);

/** The file as it is asked for; none while it is made. @param {{[name: string]: any}} query @returns {Made} */
function useFile(query) {
  const [made, setMade] = useState(/** @type {Made} */ (null));
  const asked = JSON.stringify(query);
  useEffect(() => {
    let isWanted = true;
    setMade(null);
    const timer = setTimeout(async () => {
      let next;
      try {
        next = await source().shared(session.value.run, query);
      } catch (wrong) {
        next = { reason: wrong instanceof Error ? wrong.message : String(wrong) };
      }
      if (isWanted) setMade(next);
    }, query.from || query.to ? typingMilliseconds : 0);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [asked]);
  return made;
}

/** @param {number} bytes */
const size = (bytes) => (bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`);
