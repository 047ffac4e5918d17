// Everything that is due, over all accounts, in one zone at a time. Entries are dragged to another time and come
// to rest on free slots; the same can be done from an entry's own dialog, by keys.
import FullCalendar, { type CalendarRef } from "@fullcalendar/react";
import dayGrid from "@fullcalendar/react/daygrid";
import interaction from "@fullcalendar/react/interaction";
import list from "@fullcalendar/react/list";
import "@fullcalendar/react/skeleton.css";
import classic from "@fullcalendar/react/themes/classic";
import "@fullcalendar/react/themes/classic/palette.css";
import "@fullcalendar/react/themes/classic/theme.css";
import timeGrid from "@fullcalendar/react/timegrid";
import { ActionIcon, Alert, Button, Grid, Group, SegmentedControl, Select, Switch, Text } from "@mantine/core";
import { useLocalStorage, useMediaQuery } from "@mantine/hooks";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";
import { useMemo, useRef, useState } from "react";
import { Link, useNavigate } from "react-router";

import { useAccounts, type Account } from "../../api/accounts";
import { useMay, useWeekStart, useWorkspace, useWorkspaceId } from "../../api/me";
import { accountLabel } from "../../ui/AccountChoice";
import { Failed } from "../../ui/Failed";
import { Loading } from "../../ui/Loading";
import { localInstant } from "../../ui/localInstant";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { NoAccount } from "../../ui/NoAccount";
import { Page } from "../../ui/Page";
import { clock, localDay, moment, ownZone, placeOf } from "../../ui/times";
import { stateWord } from "../../ui/words";
import { ZoneBadge } from "../../ui/ZoneBadge";
import "./calendar.css";
import { EntryDialog } from "./EntryDialog";
import { shownEvents, type Shown } from "./events";
import { hintByHand, useHint } from "./Hint";
import { PlaceDialog } from "./PlaceDialog";
import { land } from "./snap";
import { Tray, type Draft } from "./Tray";
import { useCalendar, usePlan, type Entry, type Plan, type Span } from "./useCalendar";

const views = [
  { value: "dayGridMonth", label: "Month" },
  { value: "timeGridWeek", label: "Week" },
  { value: "timeGridDay", label: "Day" },
  { value: "listWeek", label: "Agenda" },
];

type Whose = "workspace" | "account" | "mine";

export default function Calendar() {
  const workspace = useWorkspace();
  const accounts = useAccounts();
  if (workspace.data === undefined || accounts.data === undefined) {
    const error = workspace.error ?? accounts.error;
    return <Page title="Calendar">{error === null ? <Loading rows={6} /> : <Failed error={error} />}</Page>;
  }
  if (accounts.data.length === 0) return <NoAccount screen="Calendar">A calendar shows what your accounts send and when. Connect one, and what you plan stands here.</NoAccount>;
  return <Planned home={workspace.data.zone} accounts={accounts.data} />;
}

function Planned({ home, accounts }: { home: string; accounts: Account[] }) {
  const narrow = useMediaQuery("(max-width: 48em)", window.matchMedia("(max-width: 48em)").matches);
  const workspaceId = useWorkspaceId();
  const go = useNavigate();
  const mayEdit = useMay("editor");
  const weekStart = useWeekStart();
  const calendar = useRef<CalendarRef>(null);
  const [view, setView] = useState(narrow ? "listWeek" : "timeGridWeek");
  const [title, setTitle] = useState("");
  const [span, setSpan] = useState<Span | null>(null);
  const [accountId, setAccountId] = useState<string | null>(null);
  const [whose, setWhose] = useLocalStorage<Whose>({ key: "cadenza.calendar.zone", defaultValue: "workspace", getInitialValueInEffect: false });
  const [ghosts, setGhosts] = useLocalStorage({ key: "cadenza.calendar.free", defaultValue: true, getInitialValueInEffect: false });
  const [opened, setOpened] = useState<Entry | null>(null);
  const [placed, setPlaced] = useState<{ draft: Draft; at: Date | null } | null>(null);
  const account = accounts.find(({ id }) => id === accountId);
  const zone = whose === "mine" ? ownZone : whose === "account" ? (account?.zone ?? home) : home;
  const query = useCalendar(span, zone, accountId);
  const plan = usePlan();
  const events = useMemo(() => (query.data === undefined ? [] : shownEvents(query.data, accounts, { ghosts, mayEdit })), [query.data, accounts, ghosts, mayEdit]);
  const turn = (how: "prev" | "next" | "today") => calendar.current?.getApi()[how]();
  const free = query.data?.free ?? [];
  const landing = (shown: Shown, to: Date, byDay: boolean) => {
    if (shown.kind !== "entry") return land(to, free, { accountId, zone, byDay });
    const { account_id, at } = shown.entry.pill;
    return land(to, free, { accountId: account_id, zone, byDay, own: shown.entry.in_slot ? { account_id, at } : null });
  };
  const drop = (entry: Entry, to: Date, byDay: boolean) => {
    const { at, slot } = landing({ kind: "entry", entry }, to, byDay);
    if (at.getTime() === Date.parse(entry.pill.at)) return;
    plan.mutate(planOf(entry, at.toISOString(), slot !== null, zone));
  };
  const receive = (draft: Draft, to: Date, byDay: boolean) => {
    const { at, slot } = landing({ kind: "draft", postId: draft.id, title: draft.title }, to, byDay);
    if (slot === null) setPlaced({ draft, at: byDay ? localInstant(`${localDay(at, zone)}T09:00`, zone) : at });
    else plan.mutate({ postId: draft.id, accountId: slot.account_id, at: slot.at, zone, slot: true, was: null });
  };
  const [tellHint, hint] = useHint();
  const foretell = (shown: Shown, to: Date, byDay: boolean): boolean => {
    const { at, slot } = landing(shown, to, byDay);
    const isPast = byDay ? localDay(at, zone) < localDay(new Date(), zone) : at.getTime() < Date.now();
    const whom = slot !== null && shown.kind === "draft" ? `, ${accounts.find(({ id }) => id === slot.account_id)?.handle ?? ""}` : "";
    tellHint(isPast && slot === null ? "That time is over." : slot !== null ? `Takes the slot ${moment(at, zone)}${whom}.` : hintByHand(shown, at, byDay, zone));
    return slot !== null || !isPast;
  };
  return (
    <Page
      title="Calendar"
      says={<Group gap="xs"><ZoneBadge zone={zone} /></Group>}
      actions={
        <>
          <Select
            aria-label="Accounts"
            placeholder="All accounts"
            searchable
            clearable
            clearButtonProps={{ "aria-label": "Show all accounts" }}
            w={220}
            data={accounts.map((each) => ({ value: each.id, label: accountLabel(each) }))}
            value={accountId}
            onChange={setAccountId}
          />
          <SegmentedControl
            aria-label="Whose time"
            value={whose === "account" && account === undefined ? "workspace" : whose}
            onChange={(said) => setWhose(said as Whose)}
            data={[
              { value: "workspace", label: "Workspace" },
              { value: "account", label: "Account", disabled: account === undefined },
              { value: "mine", label: "Mine" },
            ]}
          />
        </>
      }
    >
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <ActionIcon variant="default" size={36} aria-label="Earlier" onClick={() => turn("prev")}>
            <IconChevronLeft size={18} />
          </ActionIcon>
          <Button variant="default" onClick={() => turn("today")}>
            Today
          </Button>
          <ActionIcon variant="default" size={36} aria-label="Later" onClick={() => turn("next")}>
            <IconChevronRight size={18} />
          </ActionIcon>
          <Text fw={650} aria-live="polite">
            {title}
          </Text>
        </Group>
        <Group gap="md">
          <Switch label="Free slots" checked={ghosts} onChange={(event) => setGhosts(event.currentTarget.checked)} />
          <SegmentedControl
            aria-label="View"
            data={views}
            value={view}
            onChange={(said) => {
              setView(said);
              calendar.current?.getApi().changeView(said);
            }}
          />
        </Group>
      </Group>
      {query.isError && query.data === undefined && <Failed error={query.error} again={() => void query.refetch()} />}
      {query.data?.more === true && <Alert color="yellow">There is more than fits here: look at a shorter span to see all.</Alert>}
      {query.data?.entries.length === 0 && !query.isPlaceholderData && (
        <Group gap="xs" role="status">
          <Text size="sm">Nothing is planned in these days.</Text>
          {mayEdit && (
            <Button size="compact-sm" variant="light" component={Link} to={`/w/${workspaceId}/compose`}>
              Write a post
            </Button>
          )}
        </Group>
      )}
      <Grid>
        <Grid.Col span={{ base: 12, lg: 9.5 }}>
          <div className="calendar" data-view={view} aria-busy={query.isFetching}>
            <FullCalendar
              ref={calendar}
              plugins={[dayGrid, timeGrid, list, interaction, classic]}
              initialView={view}
              headerToolbar={false}
              timeZone={zone}
              firstDay={weekStart}
              locale="en-gb"
              height="auto"
              nowIndicator
              dayMaxEvents={4}
              slotDuration="00:30:00"
              slotHeaderInterval="01:00:00"
              snapDuration="00:15:00"
              slotMinTime={`${String(firstHour(events, zone)).padStart(2, "0")}:00:00`}
              nextDayThreshold="12:00:00"
              slotMaxTime="24:00:00"
              defaultTimedEventDuration="00:55:00"
              eventDisplay="block"
              eventInteractive
              eventDurationEditable={false}
              events={events}
              datesSet={({ start, end, view: shown }) => {
                setTitle(shown.title);
                setSpan({ start: start.toISOString(), end: end.toISOString() });
              }}
              eventContent={({ event }) => <EventContent shown={event.extendedProps as Shown} zone={zone} />}
              eventClick={({ event, jsEvent }) => {
                jsEvent.preventDefault();
                const shown = event.extendedProps as Shown;
                if (shown.kind === "entry") setOpened(shown.entry);
                else if (shown.kind === "ghost" && mayEdit)
                  void go(`/w/${workspaceId}/compose?account=${shown.ghost.account_id}&at=${encodeURIComponent(shown.ghost.at)}`);
              }}
              droppable={mayEdit}
              eventAllow={(to, moving) => moving !== null && foretell(moving.extendedProps as Shown, to.start, to.allDay || view === "dayGridMonth")}
              eventDrop={({ event, revert }) => {
                const own = event.extendedProps as Shown;
                const to = event.start;
                const byDay = event.allDay || view === "dayGridMonth";
                revert(); // the server's answer moves it for good
                if (own.kind === "entry" && to !== null) drop(own.entry, to, byDay);
              }}
              eventReceive={({ event, revert }) => {
                const own = event.extendedProps as Shown;
                const [to, byDay] = [event.start, event.allDay];
                revert();
                if (own.kind === "draft" && to !== null) receive({ id: own.postId, title: own.title }, to, byDay);
              }}
            />
          </div>
          <Text size="xs" c="dimmed" mt={4}>
            All times are {placeOf(zone)} time. Drag a post, or a draft from the list, to another time: near a free slot it takes the slot, between slots it is timed by
            hand. Or open it and choose.
          </Text>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 2.5 }}>
          <Tray mayEdit={mayEdit} onPlace={(draft) => setPlaced({ draft, at: null })} />
        </Grid.Col>
      </Grid>
      {opened !== null && (
        <EntryDialog
          entry={opened}
          zone={zone}
          free={free}
          mayEdit={mayEdit}
          busy={plan.isPending}
          onPlan={(at, slot) => plan.mutate(planOf(opened, at, slot, zone), { onSuccess: () => setOpened(null) })}
          onClose={() => setOpened(null)}
        />
      )}
      {placed !== null && (
        <PlaceDialog
          draft={placed.draft}
          at={placed.at}
          accountId={accountId}
          accounts={accounts}
          free={free}
          zone={zone}
          busy={plan.isPending}
          onPlan={(asked) => plan.mutate(asked, { onSuccess: () => setPlaced(null) })}
          onClose={() => setPlaced(null)}
        />
      )}
      {hint}
    </Page>
  );
}

function planOf({ pill, in_slot }: Entry, at: string, slot: boolean, zone: string): Plan {
  return { postId: pill.post_id, accountId: pill.account_id, channel: pill.channel, at, zone, slot, was: { at: pill.at, slot: in_slot } };
}

/** From six o'clock on, or from the hour of the earliest thing that stands there. */
function firstHour(events: ReturnType<typeof shownEvents>, zone: string): number {
  const hours = events.filter(({ extendedProps: { kind } }) => kind !== "clocks").map(({ start }) => Number(clock(start, zone).slice(0, 2)));
  return Math.min(6, ...hours);
}

function EventContent({ shown, zone }: { shown: Shown; zone: string }) {
  if (shown.kind === "clocks")
    return (
      <div className="calendar-entry" data-kind="clocks">
        <span>{shown.says}</span>
      </div>
    );
  if (shown.kind === "ghost")
    return (
      <div className="calendar-entry" data-kind="ghost">
        <span>
          {clock(shown.ghost.at, zone)} free{shown.handle === "" ? "" : `, ${shown.handle}`}
        </span>
      </div>
    );
  if (shown.kind === "draft")
    return (
      <div className="calendar-entry" data-kind="draft">
        <span>{shown.title}</span>
      </div>
    );
  const { pill, title, text } = shown.entry;
  return (
    <div className="calendar-entry" data-kind="entry" data-state={pill.state} title={`${stateWord(pill.state).says}: ${title || text}`}>
      <NetworkIcon of={pill.channel} size={13} />
      <span>
        {clock(pill.at, zone)} {title || text}
        {pill.state !== "scheduled" && ` (${stateWord(pill.state).says})`}
      </span>
    </div>
  );
}
