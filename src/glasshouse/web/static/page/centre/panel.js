// @ts-check
/** The centre of the page: one face of the play. */
import { html } from "page/html";
import { face } from "page/centre/faces";
import { Graph } from "page/graph/panel";
import { Script } from "page/script/panel";
import { Table } from "page/table/panel";
import { Teams } from "page/teams/panel";

const drawn = { graph: Graph, script: Script, table: Table, teams: Teams };

export function Centre() {
  return html`<${drawn[face.value]} />`;
}
