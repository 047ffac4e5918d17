// What the calendar's engine is handed: posts, free slots as ghosts, and days on which clocks change.
import type { Account } from "../../api/accounts";
import { clockChangeWords } from "../../ui/times";
import type { CalendarView, Entry, Ghost } from "./useCalendar";
import { t } from "../../messages/calendar";

const GHOST = 25 * 60_000; // one line high

export type Shown = { kind: "entry"; entry: Entry } | { kind: "draft"; postId: string; title: string } | { kind: "ghost"; ghost: Ghost; handle: string } | { kind: "clocks"; message: string };

export type Event = ReturnType<typeof shownEvents>[number];

export function shownEvents(view: CalendarView, accounts: readonly Account[], how: { ghosts: boolean; mayEdit: boolean }) {
  const handles = new Map(accounts.map(({ id, handle }) => [id, handle]));
  const entries = view.entries.map((entry) => ({
    id: entry.pill.delivery_id,
    title: entry.title || entry.text,
    start: entry.pill.at,
    startEditable: how.mayEdit && mayMove(entry),
    extendedProps: { kind: "entry", entry } satisfies Shown,
  }));
  const ghosts = how.ghosts
    ? view.free.map((ghost) => ({
        id: `free ${ghost.account_id} ${ghost.at}`,
        title: t("freeSlot"),
        start: ghost.at,
        end: new Date(Date.parse(ghost.at) + GHOST).toISOString(),
        startEditable: false,
        extendedProps: { kind: "ghost", ghost, handle: handles.get(ghost.account_id) ?? "" } satisfies Shown,
      }))
    : [];
  const clocks = view.clock_changes.map(({ day, minutes }) => {
    const message = clockChangeWords(minutes) ?? t("clocksChangeOnThisDay");
    return { id: `clocks ${day}`, title: message, start: day, allDay: true, startEditable: false, extendedProps: { kind: "clocks", message } satisfies Shown };
  });
  return [...clocks, ...entries, ...ghosts];
}

/** What is out, on its way or over stays where it is. */
export function mayMove({ pill }: Entry): boolean {
  return pill.state === "scheduled" || pill.state === "draft";
}
