// @ts-check
/** The centre of the page: the face of the play that is shown, unless it is the graph, which has a place of its own (ADR 0131). */
import { html } from "page/html";
import { face } from "page/centre/faces";
import { Script } from "page/script/panel";
import { Table } from "page/table/panel";
import { Teams } from "page/teams/panel";

const drawn = { script: Script, table: Table, teams: Teams };

export function Centre() {
  const name = face.value;
  return name === "graph" ? null : html`<${drawn[name]} />`;
}
