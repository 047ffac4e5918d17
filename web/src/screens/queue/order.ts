// The order of a queue as the screen shows it before the server has answered: posts change hands, the
// instants stay. Pure; the server decides by the same rule (queues/reorder.py) and has the last word.
import type { AnswerOf, Schemas } from "../../api/client";

export type QueueView = AnswerOf<"/api/v1/workspaces/{workspace_id}/accounts/{account_id}/queue", "get">;
export type Line = Schemas["LineView"];
export type Day = Schemas["DayView"];

/** The name of a line's post in the order: its first delivery. */
export const nameOf = (line: Line): string => line.ids[0] ?? line.at;

export const mayMove = (line: Line): boolean => line.ids.length > 0 && (line.kind === "filled" || line.kind === "held");

export function movable(view: QueueView): Line[] {
  return view.days.flatMap((day) => day.lines.filter(mayMove));
}

export interface Move {
  id: string;
  before?: string;
  after?: string;
}

/** Say a move by the neighbour that the post comes to stand beside. */
export function moveTo(view: QueueView, id: string, index: number): Move | null {
  const line = movable(view).map(nameOf);
  const from = line.indexOf(id);
  const anchor = line[index];
  if (from < 0 || anchor === undefined || from === index) return null;
  return index < from ? { id, before: anchor } : { id, after: anchor };
}

/** The move that takes a move back, read from the order before it. */
export function wayBack(view: QueueView, id: string): Move | null {
  const line = movable(view).map(nameOf);
  const from = line.indexOf(id);
  const next = line[from + 1];
  if (next !== undefined) return { id, before: next };
  const last = line[from - 1];
  return from < 0 || last === undefined ? null : { id, after: last };
}

/** The order in which moved posts stood before: dealt out again so, each has its own instant back. */
export function orderBefore(moved: readonly { id: string; was_at: string }[]): string[] {
  return [...moved].sort((one, other) => Date.parse(one.was_at) - Date.parse(other.was_at)).map(({ id }) => id);
}

export function withMove(view: QueueView, move: Move): QueueView {
  const line = movable(view).map(nameOf);
  const anchor = move.before ?? move.after;
  if (!line.includes(move.id) || anchor === undefined || !line.includes(anchor)) return view;
  const rest = line.filter((id) => id !== move.id);
  const at = rest.indexOf(anchor) + (move.before === undefined ? 1 : 0);
  return withOrder(view, [...rest.slice(0, at), move.id, ...rest.slice(at)]);
}

/** Deal the held instants out to the posts in this order; the instants and what they are stay. */
export function withOrder(view: QueueView, ids: readonly string[]): QueueView {
  const byName = new Map(movable(view).map((line) => [nameOf(line), line]));
  const dealt = ids.map((id) => byName.get(id)).filter((line) => line !== undefined);
  if (dealt.length !== byName.size) return view;
  let turn = 0;
  const lines = (day: Day) =>
    day.lines.map((place) => {
      if (!mayMove(place)) return place;
      const post = dealt[turn++] ?? place;
      return { ...post, at: place.at, wall_time: place.wall_time, mark: place.mark, kind: place.kind };
    });
  return { ...view, days: view.days.map((day) => ({ ...day, lines: lines(day) })) };
}

/** Show the order that the server told instead (a refusal because somebody was quicker). */
export function withServersOrder(view: QueueView, revision: number, order: readonly { id: string; at: string }[]): QueueView {
  const shown = new Set(movable(view).map(nameOf));
  const ids = order.filter(({ id }) => shown.has(id)).map(({ id }) => id);
  return { ...withOrder(view, ids), revision };
}
