// One account's queue: what goes out when, and everything a person may do about it.
import { ActionIcon, Alert, Button, Group, Menu, Stack } from "@mantine/core";
import { IconArrowsDownUp, IconArrowsShuffle, IconCalendarCog, IconDots, IconPlayerPause, IconStack2, IconTrash } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";

import { useAccounts, useChosenAccount, type Account } from "../../api/accounts";
import { useMay, useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { AccountChoice } from "../../ui/AccountChoice";
import { askFirst } from "../../ui/ask";
import { Empty } from "../../ui/Empty";
import { Failed } from "../../ui/Failed";
import { Fetched } from "../../ui/Fetched";
import { Loading } from "../../ui/Loading";
import { NoAccount } from "../../ui/NoAccount";
import { Page } from "../../ui/Page";
import { Days } from "./Days";
import { Head, Standing } from "./Head";
import { words } from "./LineRow";
import { Missed } from "./Missed";
import { movable, nameOf, type Line } from "./order";
import { PauseDialog } from "./PauseDialog";
import "./queue.css";
import { ResumeDialog } from "./ResumeDialog";
import { ScheduleEditor } from "./ScheduleEditor";
import { SwapDialog } from "./SwapDialog";
import { useOrder } from "./useOrder";
import { useMix, useQueueActs, useQueueView } from "./useQueue";
import { t } from "../../messages/queue";

const ExplainDrawer = lazy(() => import("../activity/ExplainDrawer"));
const STEP = 14;
const MOST = 92;

export default function Queue() {
  const accounts = useAccounts();
  return (
    <Fetched query={accounts} loading={<Page title={t("queue")}><Loading rows={6} /></Page>}>
      {(found) => (found.length === 0 ? <NoAccount screen={t("queue")}>{t("everyAccountHasItsOwnQueue")}</NoAccount> : <Chosen accounts={found} />)}
    </Fetched>
  );
}

function Chosen({ accounts }: { accounts: Account[] }) {
  const [account, choose] = useChosenAccount(accounts);
  if (account === undefined) return null;
  const choice = <AccountChoice accounts={accounts} value={account.id} onChange={choose} />;
  return <One key={account.id} account={account} choice={choice} />;
}

type Dialog = "pause" | "resume" | "schedule" | null;

function One({ account, choice }: { account: Account; choice: React.ReactNode }) {
  const [days, setDays] = useState(STEP);
  const [dialog, setDialog] = useState<Dialog>(null);
  const close = () => setDialog(null);
  const workspaceId = useWorkspaceId();
  const mayEdit = useMay("editor");
  const query = useQueueView(account.id, days);
  const order = useOrder(account.id, days, query.data);
  const view = order.view;
  const mix = useMix(account.id);
  const [swapped, setSwapped] = useState<Line | null>(null);
  const [asked, setAsked] = useState<string | null>(null);
  const few = view === undefined || movable(view).length < 2 || order.busy; // the whole order is told by what is seen
  const acts = useQueueActs(account.id, view?.zone ?? account.zone);
  const lacksSchedule = query.error instanceof Problem && query.error.code === "no_queue";

  const clear = async () => {
    const yes = await askFirst({
      title: t("clearTheQueueOfHandle", { handle: account.handle }),
      message: t("allWaitingPostsAreRemovedPosts"),
      yes: t("clearQueue"),
      danger: true,
    });
    if (yes) acts.clear.mutate(false);
  };
  const lineActs = {
    step: order.step,
    toTop: order.toTop,
    swap: setSwapped,
    skip: (at: string) => acts.skip.mutate([at]),
    unskip: (at: string) => acts.lift.mutate([at]),
    remove: async (line: Line) => {
      const yes = await askFirst({
        title: t("removeThisPostFromTheQueue"),
        message: t("handleWontSendTextThePost", { text: words(line), handle: account.handle }),
        yes: t("remove"),
        danger: true,
      });
      if (yes) acts.cancel.mutate(line.ids);
    },
    publish: async (line: Line) => {
      const message = t("handlePublishesTextRightAwayYou", { text: words(line), handle: account.handle });
      if (await askFirst({ title: t("publishNowQuestion"), message, yes: t("publishNow") })) acts.publish.mutate(line.ids);
    },
    edit: (postId: string) => `/w/${workspaceId}/compose/${postId}`,
    compose: (at: string) => `/w/${workspaceId}/compose?account=${account.id}&at=${encodeURIComponent(at)}`,
  };

  return (
    <Page
      title={t("queue")}
      actions={
        <>
          {choice}
          {mayEdit && view !== undefined && (
            <Group gap="xs">
              {!view.paused && (
                <Button variant="default" leftSection={<IconPlayerPause size={16} aria-hidden />} onClick={() => setDialog("pause")}>
                  {t("pauseDots")}
                </Button>
              )}
              <Button variant="default" leftSection={<IconCalendarCog size={16} aria-hidden />} onClick={() => setDialog("schedule")}>
                {t("postingTimesDots")}
              </Button>
              <Menu position="bottom-end">
                <Menu.Target>
                  <ActionIcon variant="default" size={36} aria-label={t("moreActionsForThisQueue")}>
                    <IconDots size={18} />
                  </ActionIcon>
                </Menu.Target>
                <Menu.Dropdown>
                  <Menu.Item
                    disabled={few}
                    leftSection={<IconArrowsShuffle size={16} aria-hidden />}
                    onClick={() => mix.mutate({ verb: "shuffle", seed: crypto.getRandomValues(new Uint32Array(1))[0] ?? 0, revision: view.revision })}
                  >
                    {t("shuffleOrder")}
                  </Menu.Item>
                  <Menu.Item disabled={few} leftSection={<IconArrowsDownUp size={16} aria-hidden />} onClick={() => mix.mutate({ verb: "reverse", revision: view.revision })}>
                    {t("reverseOrder")}
                  </Menu.Item>
                  <Menu.Divider />
                  <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={() => void clear()}>
                    {t("clearQueueDots")}
                  </Menu.Item>
                </Menu.Dropdown>
              </Menu>
            </Group>
          )}
        </>
      }
    >
      {view === undefined && query.isPending && <Loading rows={6} />}
      {view === undefined && lacksSchedule && (
        <Empty
          icon={IconStack2}
          title={t("handleHasNoPostingTimesYet", { handle: account.handle })}
          action={mayEdit && <Button onClick={() => setDialog("schedule")}>{t("setPostingTimes")}</Button>}
        >
          {t("addWeeklySlotsAndNewPosts")}
        </Empty>
      )}
      {view === undefined && query.isError && !lacksSchedule && <Failed error={query.error} again={() => void query.refetch()} />}
      {view !== undefined && (
        <Stack gap="md">
          <Head account={account} view={view} />
          <Standing account={account} view={view} mayResume={mayEdit} onResume={() => setDialog("resume")} />
          <Missed accountId={account.id} zone={view.zone} acts={mayEdit ? acts : null} />
          {order.conflict !== null && (
            <Alert role="alert" color="orange" title={order.conflict.moves.length === 1 ? t("yourMoveWasntSaved") : t("yourMovesWerentSaved")} withCloseButton closeButtonLabel={t("keepAsIs")} onClose={order.leave}>
              {t("saysWhatDoYouWantTo", { message: order.conflict.message })}{" "}
              <Group gap="xs" mt="xs">
                <Button size="xs" onClick={order.again}>
                  {order.conflict.moves.length === 1 ? t("moveAnyway") : t("moveAnyway")}
                </Button>
                <Button size="xs" variant="default" onClick={order.leave}>
                  {t("keepAsIs")}
                </Button>
              </Group>
            </Alert>
          )}
          <Days view={view} acts={mayEdit ? lineActs : null} why={(line) => setAsked(nameOf(line))} move={order.move} />
          {days < MOST && (
            <Button variant="default" loading={query.isFetching && query.isPlaceholderData} onClick={() => setDays(Math.min(MOST, days + STEP))}>
              {t("showMoreDays")}
            </Button>
          )}
        </Stack>
      )}
      {dialog === "pause" && view !== undefined && (
        <PauseDialog
          zone={view.zone}
          handle={account.handle}
          busy={acts.pause.isPending}
          onPause={(asked) => acts.pause.mutate(asked, { onSuccess: close })}
          onClose={close}
        />
      )}
      {dialog === "resume" && view !== undefined && (
        <ResumeDialog
          accountId={account.id}
          view={view}
          zone={view.zone}
          paused={view.paused}
          busy={acts.resume.isPending}
          onResume={(asked) => acts.resume.mutate(asked, { onSuccess: close })}
          onClose={close}
        />
      )}
      {swapped !== null && view !== undefined && (
        <SwapDialog
          line={swapped}
          view={view}
          busy={mix.isPending}
          onSwap={(ids) => mix.mutate({ verb: "swap", ids, revision: view.revision }, { onSuccess: () => setSwapped(null) })}
          onClose={() => setSwapped(null)}
        />
      )}
      {asked !== null && (
        <Suspense>
          <ExplainDrawer deliveryId={asked} onClose={() => setAsked(null)} />
        </Suspense>
      )}
      {dialog === "schedule" && <ScheduleEditor account={account} isNew={view === undefined} view={view} onClose={close} />}
    </Page>
  );
}
