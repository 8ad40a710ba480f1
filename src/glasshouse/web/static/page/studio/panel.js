// @ts-check
/**
 * The studio: a world's files as texts, the checks under their lines, and beside them a rehearsal of the texts as they are.
 *
 * Always holds: the server checks, rehearses and writes; this page only shows what it answers. Texts that do not check are not
 * rehearsed. What is typed is kept while the page is open, also when the studio is left.
 */
import { html, useEffect, useRef, useState } from "page/html";
import { flipTheme, theme } from "page/colours";
import { freshSeed } from "page/empty/worlds";
import { Face } from "page/face";
import { form } from "page/form";
import { icon, mark } from "page/icons";
import { isDirector, open, session, source } from "page/store";
import { toast } from "page/toast";
import { Button, Dialog, Field, IconButton, Meter } from "page/ui";
import { TextEditor } from "page/studio/editor";
import { leaveStudio, openStudio } from "page/studio/open";
import { PromptPanel } from "page/studio/prompt";
import { RehearsalPanel } from "page/studio/rehearsal";
import { corrected, creatureIn } from "page/studio/texts";

/**
 * @typedef {import("page/studio/texts").Mistake} Mistake
 * @typedef {import("page/studio/rehearsal").RehearsalInfo} RehearsalInfo
 * @typedef {{name: string, where: string, folder: string, files: {path: string, text: string}[], digest: string, saves: "over"|"new"|""}} TextsInfo
 * @typedef {{info: TextsInfo, saved: {[path: string]: string}, texts: {[path: string]: string}, active: string, seed: number, rehearsal: RehearsalInfo|null}} Draft
 */

const checkMilliseconds = 350;
const nameCharsMax = 63;

/** What is being written, by world: whoever leaves the studio and comes back goes on. @type {Map<string, Draft>} */
const drafts = new Map();

/** @param {{world: string}} props */
export function Studio({ world }) {
  const [, drawAgain] = useState(0);
  const [problem, setProblem] = useState("");
  const draft = drafts.get(world);
  useEffect(() => {
    setProblem("");
    if (drafts.has(world) || !isDirector.value) return;
    source().texts(world).then(
      (/** @type {TextsInfo} */ info) => {
        const texts = Object.fromEntries(info.files.map(({ path, text }) => [path, text]));
        drafts.set(world, { info, saved: texts, texts, active: info.files[0]?.path ?? "", seed: 0, rehearsal: null });
        drawAgain((count) => count + 1);
      },
      (/** @type {Error} */ wrong) => setProblem(wrong.message),
    );
  }, [world, isDirector.value]);
  const words = form.value !== "wide" ? "The studio needs a wider window: a text and its rehearsal stand side by side." : problem || (isDirector.value || !session.value.role ? "" : "Only a director works in the studio. Ask whoever serves this page for a director's link.");
  if (words) return html`<main class="only-words"><h1 class="studio-title">Studio</h1><p>${words}</p><p><${Button} label="Back" kind="primary" onClick=${leaveStudio} /></p></main>`;
  if (!draft) return html`<main class="only-words" aria-busy="true"><p>The files are being read…</p></main>`;
  return html`<${Desk} key=${world} world=${world} draft=${draft} onDraft=${(/** @type {Partial<Draft>} */ change) => {
    drafts.set(world, { .../** @type {Draft} */ (drafts.get(world)), ...change });
    drawAgain((count) => count + 1);
  }} />`;
}

/** @param {{world: string, draft: Draft, onDraft: (change: Partial<Draft>) => void}} props */
function Desk({ world, draft, onDraft }) {
  const { info, texts, saved, active, rehearsal } = draft;
  const path = `worlds/${encodeURIComponent(world)}`;
  const [checked, setChecked] = useState({ of: /** @type {object|null} */ (null), problems: /** @type {Mistake[]} */ ([]) });
  const [rehearsed, setRehearsed] = useState({ isPlaying: false, problem: "" });
  const [at, setAt] = useState(0);
  const [who, setWho] = useState("");
  const [isNaming, setNaming] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const mistakes = checked.problems;
  const isSound = checked.of === texts && !mistakes.length;
  const isEdited = Object.keys(texts).some((file) => texts[file] !== saved[file]);
  const cast = [...new Set([...(rehearsal?.lines ?? []).filter(({ has_prompt: hasPrompt }) => hasPrompt).map((line) => line.who)])];
  const write = (/** @type {string} */ file, /** @type {string} */ text) => onDraft({ texts: { ...texts, [file]: text } });

  /** @param {{seed?: number, after?: string|null}} [how] */
  const rehearse = async (how = {}) => {
    setRehearsed({ isPlaying: true, problem: "" });
    try {
      const seed = how.seed ?? draft.seed;
      const after = how.after === undefined ? drafts.get(world)?.rehearsal?.id : how.after;
      const made = /** @type {RehearsalInfo} */ (await source().post(`${path}/rehearse`, { texts, rng_seed: seed, ...(after ? { after } : {}) }));
      onDraft({ rehearsal: made, seed });
      setAt(made.differs_at === null ? made.lines.length - 1 : Math.min(made.differs_at, made.lines.length - 1));
      setRehearsed({ isPlaying: false, problem: "" });
    } catch (refused) {
      setRehearsed({ isPlaying: false, problem: refused instanceof Error ? refused.message : String(refused) });
    }
  };
  // A moment after the last key, the texts are checked; what is sound is rehearsed.
  useEffect(() => {
    let isOld = false;
    const timer = setTimeout(async () => {
      try {
        const answer = await source().post(`${path}/texts/check`, { texts });
        if (isOld) return;
        setChecked({ of: texts, problems: answer.problems });
        if (!answer.problems.length) void rehearse();
      } catch (refused) {
        if (!isOld) setRehearsed({ isPlaying: false, problem: refused instanceof Error ? refused.message : String(refused) });
      }
    }, checkMilliseconds);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [texts]);

  const save = async (/** @type {string} */ name = "") => {
    if (info.saves === "new" && !name) return setNaming(true);
    setBusy(true);
    try {
      const written = await source().post(`${path}/texts/save`, { texts, digest: info.digest, ...(name ? { name } : {}) });
      toast(`Saved in ${written.folder}.`);
      setNaming(false);
      if (name) {
        drafts.delete(world);
        openStudio(name);
      } else onDraft({ info: { ...info, digest: written.digest }, saved: texts });
    } catch (refused) {
      toast(refused instanceof Error ? refused.message : String(refused), { kind: "error" });
    }
    return setBusy(false);
  };
  const perform = async () => {
    if (!isSound || isBusy) return;
    setBusy(true);
    try {
      const run = await source().post(`${path}/perform`, { texts, rng_seed: draft.seed });
      void open(run.id, { isStep: true });
    } catch (refused) {
      toast(refused instanceof Error ? refused.message : String(refused), { kind: "error" });
      setBusy(false);
    }
  };
  const use = (/** @type {Mistake} */ mistake) => write(mistake.path, corrected(texts[mistake.path] ?? "", mistake));
  useStudioKeys({
    "Ctrl+s": () => void (info.saves && isSound && !isBusy && save()),
    "Ctrl+Enter": () => void perform(),
    "Alt+Enter": () => {
      const meant = mistakes.find((mistake) => mistake.instead && mistake.path === active) ?? mistakes.find((mistake) => mistake.instead);
      if (meant) use(meant);
    },
  });
  useEffect(() => void (document.title = `${world} · Studio · Glasshouse`), [world]);
  useLeaveWarning(isEdited);
  const first = mistakes[0];
  const held = first ? `${first.line ? `Line ${first.line} of ${first.path}` : first.path} does not check, so nothing new is called.${rehearsal ? " You see the last version that did." : ""}` : "";
  const openPrompt = (/** @type {number} */ line) => (setAt(line), setWho(rehearsal?.lines[line].who ?? ""));
  return html`<header class="bar studio-bar">
      <a class="mark" href="./" aria-label="Glasshouse, back to the show" onClick=${(/** @type {Event} */ event) => (event.preventDefault(), leaveStudio())}>${mark()}<b>Glasshouse</b></a>
      <span class="slash" aria-hidden="true">/</span><span>Studio</span><span class="slash" aria-hidden="true">/</span><h1>${titleIn(texts, info.name)}</h1><span class="pill mono">${info.folder}</span>
      <span class=${`pill${mistakes.length ? " status is-error" : ""}`} role="status">${mistakes.length ? `${mistakes.length} problem${mistakes.length === 1 ? "" : "s"}` : checked.of === texts ? "checks" : "checking…"}</span>
      <span class="spacer"></span>
      ${rehearsal ? html`<${Meter} label="Rehearsal" value=${`${rehearsal.new_calls} calls`} share=${rehearsal.calls ? rehearsal.new_calls / rehearsal.calls : 0} title=${`${rehearsal.new_calls} of ${rehearsal.calls} calls were new; the others came from the record. Offline and free.`} />` : null}
      ${info.saves ? html`<${Button} label=${info.saves === "new" ? "Save as" : "Save"} icon="download" kbd="Ctrl S" onClick=${() => void save()} isDisabled=${!isSound || isBusy || (info.saves === "over" && !isEdited)} />` : null}
      <${Button} label="Perform it" icon="play" kind="primary" kbd="Ctrl ↵" onClick=${() => void perform()} isDisabled=${!isSound || isBusy} />
      <${IconButton} label=${theme.value === "dark" ? "Light theme" : "Dark theme"} icon=${theme.value === "dark" ? "sun" : "moon"} onClick=${flipTheme} />
      <${IconButton} label="Leave the studio" kbd="Esc" icon="close" onClick=${leaveStudio} />
    </header>
    <main class=${`studio-page${who ? " has-prompt" : ""}`}>
      <section class="panel studio-desk" aria-label="Files">
        <nav class="studio-files" aria-label="Files"><${Files} texts=${texts} saved=${saved} active=${active} mistakes=${mistakes} onPick=${(/** @type {string} */ file) => onDraft({ active: file })} onAdd=${(/** @type {string} */ file, /** @type {string} */ text) => onDraft({ texts: { ...texts, [file]: text }, active: file })} /></nav>
        <div class="studio-editor"><header class="panel-head"><h2 class="panel-title mono">${active}</h2>${texts[active] !== saved[active] ? html`<small>edited</small>` : null}<span class="spacer"></span>
            ${texts[active] !== saved[active] && saved[active] !== undefined ? html`<${Button} label="Undo all" kind="quiet" onClick=${() => write(active, saved[active])} />` : null}</header>
          <${TextEditor} key=${active} path=${active} text=${texts[active] ?? ""} saved=${saved[active] ?? ""} mistakes=${mistakes.filter((mistake) => mistake.path === active)} onChange=${(/** @type {string} */ text) => write(active, text)} onUse=${use} /></div>
      </section>
      <${RehearsalPanel} rehearsal=${rehearsal} held=${held} isPlaying=${rehearsed.isPlaying} problem=${rehearsed.problem} at=${at} cast=${cast} onGo=${setAt} onPrompt=${openPrompt}
        onOtherSeed=${() => void rehearse({ seed: freshSeed() })} onFromStart=${() => void rehearse({ after: null })} />
      ${who && rehearsal ? html`<${PromptPanel} rehearsal=${rehearsal} at=${at} who=${who} cast=${cast} onWho=${setWho} onClose=${() => setWho("")} />` : null}
    </main>
    ${isNaming ? html`<${Naming} isBusy=${isBusy} onSave=${save} onClose=${() => setNaming(false)} />` : null}`;
}

/** The title that a scenario's text gives. @param {{[path: string]: string}} texts @param {string} name */
const titleIn = (texts, name) => /^title:\s*["']?(.+?)["']?\s*$/m.exec(Object.values(texts)[0] ?? "")?.[1] ?? name;

/** @param {{texts: {[path: string]: string}, saved: {[path: string]: string}, active: string, mistakes: Mistake[], onPick: (path: string) => void, onAdd: (path: string, text: string) => void}} props */
function Files({ texts, saved, active, mistakes, onPick, onAdd }) {
  const [name, setName] = useState("");
  const file = `creatures/${name}.yaml`;
  const canAdd = /^[a-z][a-z0-9-]*$/.test(name) && !(file in texts);
  const add = () => {
    if (!canAdd) return;
    onAdd(file, `name: ${name}\npersona: >-\n  Who it is, and what it does here.\nschedule: {tick_every: 1}\n`);
    setName("");
  };
  return html`<h2 class="panel-title">Files</h2>
    <ul>${Object.keys(texts).map((path) => {
      const wrong = mistakes.filter((mistake) => mistake.path === path).length;
      const isCreature = path.includes("/");
      return html`<li key=${path}><button type="button" aria-current=${path === active ? "true" : undefined} onClick=${() => onPick(path)}>
        ${isCreature ? html`<${Face} id=${creatureIn(path)} colour="var(--g0)" size=${18} />` : icon("session", 14)}<span class="mono">${isCreature ? creatureIn(path) : path}</span>
        ${wrong ? html`<b class="studio-count" aria-label=${`${wrong} problem${wrong === 1 ? "" : "s"}`}>${wrong}</b>` : texts[path] !== saved[path] ? html`<i class="studio-dot" role="img" aria-label="edited"></i>` : null}</button></li>`;
    })}</ul>
    <form class="studio-new" onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), add())}><input class="input" aria-label="Name of a new creature" placeholder="new-creature" maxlength=${nameCharsMax} autocomplete="off" spellcheck="false" value=${name} onInput=${(/** @type {any} */ event) => setName(event.target.value)} />
      <${IconButton} label="Add a creature's file" icon="plus" isDisabled=${!canAdd} onClick=${add} /></form>`;
}

/** @param {{isBusy: boolean, onSave: (name: string) => void, onClose: () => void}} props */
function Naming({ isBusy, onSave, onClose }) {
  const [name, setName] = useState("");
  const isName = /^[a-z][a-z0-9-]*$/.test(name);
  return html`<${Dialog} title="Save as a world of your own" width=${460} onClose=${onClose} onSubmit=${() => isName && !isBusy && onSave(name)}
    footer=${html`<${Button} label="Cancel" onClick=${onClose} /><${Button} label="Save" kind="primary" kbd="Enter" type="submit" onClick=${() => {}} isDisabled=${!isName || isBusy} />`}>
    <p>This world came with the program, so it stays as it is. Yours is a new folder in <span class="mono">./worlds</span>.</p>
    <${Field} label="Name" hint="Small letters, digits and hyphens"><input data-first type="text" autocomplete="off" spellcheck="false" maxlength=${nameCharsMax} placeholder="my-world" value=${name} onInput=${(/** @type {any} */ event) => setName(event.target.value)} /><//>
  <//>`;
}

/** The keys of the studio, also while somebody types. @param {{[key: string]: () => void}} keys */
function useStudioKeys(keys) {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const press = (event) => {
      if (event.target instanceof Element && event.target.closest("[role=dialog]")) return;
      const name = `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${event.key.length === 1 ? event.key.toLowerCase() : event.key}`;
      const act = /** @type {(() => void)|undefined} */ (current.current[name]);
      // Single keys mean something to the run behind the studio, which is not in sight.
      const isPlain = !event.ctrlKey && !event.metaKey && !["Escape", "Tab"].includes(event.key);
      if (act || isPlain) event.stopPropagation();
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", press, true);
    return () => removeEventListener("keydown", press, true);
  }, []);
}

/** Have the browser ask before it closes a page with texts that are not saved. @param {boolean} isEdited */
function useLeaveWarning(isEdited) {
  useEffect(() => {
    if (!isEdited) return undefined;
    const ask = (/** @type {Event} */ event) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isEdited]);
}
