// Everything that is due, over all accounts, in one zone at a time. Entries are dragged to another time and come
// to rest on free slots; the same can be done from an entry's own dialog, by keys.
import type { CalendarRef } from "@fullcalendar/react";
import { Alert, Button, Group, Text } from "@mantine/core";
import { useLocalStorage, useMediaQuery } from "@mantine/hooks";
import { useMemo, useRef, useState } from "react";
import { Link, useNavigate } from "react-router";

import { useAccounts, type Account } from "../../api/accounts";
import { useMay, useWorkspace, useWorkspaceId } from "../../api/me";
import { Failed } from "../../ui/Failed";
import { Loading } from "../../ui/Loading";
import { NoAccount } from "../../ui/NoAccount";
import { Page } from "../../ui/Page";
import { placeOf } from "../../ui/times";
import { ZoneBadge } from "../../ui/ZoneBadge";
import { Days } from "./Days";
import { EntryDialog } from "./EntryDialog";
import { shownEvents } from "./events";
import { PlaceDialog } from "./PlaceDialog";
import { Toolbar, WhoseChoice } from "./Toolbar";
import { Tray, type Draft } from "./Tray";
import { planOf, useCalendar, type Ghost, type Span } from "./useCalendar";
import { usePlacing } from "./usePlacing";
import { useWhose } from "./useWhose";
import { t } from "../../messages/calendar";

const NARROW = "(max-width: 48em)";

export default function Calendar() {
  const workspace = useWorkspace();
  const accounts = useAccounts();
  if (workspace.data === undefined || accounts.data === undefined) {
    const error = workspace.error ?? accounts.error;
    return <Page title={t("calendar")}>{error === null ? <Loading rows={6} /> : <Failed error={error} />}</Page>;
  }
  if (accounts.data.length === 0) return <NoAccount screen={t("calendar")}>{t("seeWhatYourAccountsSendAnd")}</NoAccount>;
  return <Planned home={workspace.data.zone} accounts={accounts.data} />;
}

function Planned({ home, accounts }: { home: string; accounts: Account[] }) {
  const narrow = useMediaQuery(NARROW, window.matchMedia(NARROW).matches);
  const go = useNavigate();
  const workspaceId = useWorkspaceId();
  const mayEdit = useMay("editor");
  const whose = useWhose(home, accounts);
  const { zone } = whose;
  const accountId = whose.account?.id ?? null;
  const days = useRef<CalendarRef>(null);
  const [view, setView] = useState(narrow ? "listWeek" : "timeGridWeek");
  const [title, setTitle] = useState("");
  const [span, setSpan] = useState<Span | null>(null);
  const [ghosts, setGhosts] = useLocalStorage({ key: "cadenza.calendar.free", defaultValue: true, getInitialValueInEffect: false });
  const [openedId, open] = useState<string | null>(null);
  const [placed, setPlaced] = useState<{ draft: Draft; at: Date | null } | null>(null);
  const query = useCalendar(span, zone, accountId);
  const free = query.data?.free ?? [];
  const placing = usePlacing({ accounts, accountId, zone, free, onPlace: (draft, at) => setPlaced({ draft, at }) });
  const events = useMemo(() => (query.data === undefined ? [] : shownEvents(query.data, accounts, { ghosts, mayEdit })), [query.data, accounts, ghosts, mayEdit]);
  const opened = query.data?.entries.find(({ pill }) => pill.delivery_id === openedId); // as it stands now, not as it stood
  const compose = ({ account_id, at }: Ghost) => void go(`/w/${workspaceId}/compose?account=${account_id}&at=${encodeURIComponent(at)}`);
  return (
    <Page title={t("calendar")} message={<ZoneBadge zone={zone} />} actions={<WhoseChoice whose={whose} accounts={accounts} />}>
      <Toolbar
        title={title}
        onTurn={(how) => days.current?.getApi()[how]()}
        view={view}
        onView={(said) => {
          setView(said);
          days.current?.getApi().changeView(said);
        }}
        ghosts={ghosts}
        onGhosts={setGhosts}
      />
      {query.isError && query.data === undefined && <Failed error={query.error} again={() => void query.refetch()} />}
      {query.data?.more === true && <Alert color="yellow">{t("theresMoreThanFitsHereChoose")}</Alert>}
      {query.data?.entries.length === 0 && !query.isPlaceholderData && <Nothing mayEdit={mayEdit} />}
      <Tray mayEdit={mayEdit} onPlace={(draft) => setPlaced({ draft, at: null })} />
      <Days
        calendar={days}
        view={view}
        zone={zone}
        events={events}
        busy={query.isFetching}
        mayEdit={mayEdit}
        placing={placing}
        onSpan={(next, name) => {
          setSpan(next);
          setTitle(name);
        }}
        onOpen={({ pill }) => open(pill.delivery_id)}
        onFree={compose}
      />
      <Text size="xs" c="dimmed">
        {t("allTimesArePlaceTimeDrag", { place: placeOf(zone) })}
      </Text>
      {opened !== undefined && (
        <EntryDialog
          entry={opened}
          zone={zone}
          free={free}
          mayEdit={mayEdit}
          busy={placing.plan.isPending}
          onPlan={(time) => placing.plan.mutate(planOf(opened, time, zone), { onSuccess: () => open(null) })}
          onClose={() => open(null)}
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
          busy={placing.plan.isPending}
          onPlan={(asked) => placing.plan.mutate(asked, { onSuccess: () => setPlaced(null) })}
          onClose={() => setPlaced(null)}
        />
      )}
      {placing.hint}
    </Page>
  );
}

function Nothing({ mayEdit }: { mayEdit: boolean }) {
  const workspaceId = useWorkspaceId();
  return (
    <Group gap="xs" role="status">
      <Text size="sm">{t("nothingPlannedForTheseDays")}</Text>
      {mayEdit && (
        <Button size="compact-sm" variant="light" component={Link} to={`/w/${workspaceId}/compose`}>
          {t("writeAPost")}
        </Button>
      )}
    </Group>
  );
}
