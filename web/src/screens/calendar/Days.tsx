// The days themselves, drawn by FullCalendar: what stands there, and what is opened, moved or let go on them.
// While something is in the hand nothing is drawn again beneath it: FullCalendar takes a calendar whose options changed
// since the last movement for another one, and a drop there did nothing. What was read meanwhile is drawn after the drop.
import FullCalendar, { type CalendarRef } from "@fullcalendar/react";
import dayGrid from "@fullcalendar/react/daygrid";
import interaction from "@fullcalendar/react/interaction";
import list from "@fullcalendar/react/list";
import "@fullcalendar/react/skeleton.css";
import classic from "@fullcalendar/react/themes/classic";
import "@fullcalendar/react/themes/classic/palette.css";
import "@fullcalendar/react/themes/classic/theme.css";
import timeGrid from "@fullcalendar/react/timegrid";
import { memo, useReducer, useRef, type Ref, type RefObject } from "react";

import { useWeekStart } from "../../api/me";
import { clock } from "../../ui/times";
import "./calendar.css";
import { EventContent } from "./EventContent";
import type { Event, Shown } from "./events";
import type { Entry, Ghost, Span } from "./useCalendar";
import type { Placing } from "./usePlacing";

interface Shows {
  calendar: Ref<CalendarRef>;
  view: string;
  zone: string;
  events: Event[];
  mayEdit: boolean;
  placing: Placing;
  onSpan: (span: Span, title: string) => void;
  onOpen: (entry: Entry) => void;
  onFree: (ghost: Ghost) => void;
}

export function Days({ busy, ...shows }: Shows & { busy: boolean }) {
  const weekStart = useWeekStart();
  const inHand = useRef(false);
  const [, drawAnew] = useReducer((drops: number) => drops + 1, 0);
  return (
    <div className="calendar" data-view={shows.view} aria-busy={busy}>
      <Grid {...shows} weekStart={weekStart} inHand={inHand} onLetGo={drawAnew} />
    </div>
  );
}

interface Draws extends Shows {
  weekStart: number;
  inHand: RefObject<boolean>;
  onLetGo: () => void;
}

const Grid = memo(
  function Grid(props: Draws) {
    const { view, zone, events, placing, inHand } = props;
    const byDays = view === "dayGridMonth"; // its cells are days, though what stands in them has a time
    return (
      <FullCalendar
        ref={props.calendar}
        plugins={[dayGrid, timeGrid, list, interaction, classic]}
        initialView={view}
        headerToolbar={false}
        timeZone={zone}
        firstDay={props.weekStart}
        locale="en-gb"
        height="auto"
        nowIndicator
        dayMaxEvents={4}
        slotDuration="00:30:00"
        slotMinHeight={30}
        slotEventOverlap={false}
        slotHeaderInterval="01:00:00"
        snapDuration="00:05:00" // finer than what a post moves by (snap.ts), so that a pixel moves none
        slotMinTime={`${String(firstHour(events, zone)).padStart(2, "0")}:00:00`}
        nextDayThreshold="12:00:00"
        slotMaxTime="24:00:00"
        defaultTimedEventDuration="00:50:00"
        eventDisplay="block"
        eventInteractive
        eventDurationEditable={false}
        events={events}
        datesSet={({ start, end, view: { title } }) => props.onSpan({ start: start.toISOString(), end: end.toISOString() }, title)}
        eventContent={({ event }) => <EventContent shown={event.extendedProps as Shown} zone={zone} />}
        eventClick={({ event, jsEvent }) => {
          jsEvent.preventDefault();
          const shown = event.extendedProps as Shown;
          if (shown.kind === "entry") props.onOpen(shown.entry);
          else if (shown.kind === "ghost" && props.mayEdit) props.onFree(shown.ghost);
        }}
        droppable={props.mayEdit}
        eventDragStart={() => {
          inHand.current = true;
        }}
        eventDragStop={() => {
          inHand.current = false;
          props.onLetGo();
        }}
        eventAllow={(to, moving) => moving !== null && placing.foretell(moving.extendedProps as Shown, to.start, to.allDay || byDays)}
        eventDrop={({ event: { extendedProps, start, allDay }, revert }) => {
          revert(); // the server's answer moves it for good
          const shown = extendedProps as Shown;
          if (shown.kind === "entry" && start !== null) placing.move(shown.entry, start, allDay || byDays);
        }}
        eventReceive={({ event: { extendedProps, start, allDay }, revert }) => {
          revert();
          const shown = extendedProps as Shown;
          if (shown.kind === "draft" && start !== null) placing.receive({ id: shown.postId, title: shown.title }, start, allDay);
        }}
      />
    );
  },
  (_, { inHand }) => inHand.current,
);

/** From six o'clock on, or from the hour of the earliest thing that stands there. */
function firstHour(events: readonly Event[], zone: string): number {
  const hours = events.filter(({ extendedProps: { kind } }) => kind !== "clocks").map(({ start }) => Number(clock(start, zone).slice(0, 2)));
  return Math.min(6, ...hours);
}
