import { Alert, Button, Group, Stack, Tabs, Text } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";

import type { Account } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useMay, useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { fromNow, localDay, moment } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { networkName } from "../../ui/words";
import { PauseDialog } from "../queue/PauseDialog";
import { ResumeAccount } from "../queue/ResumeAccount";
import { Connect } from "./Connect";
import { healthOf } from "./health";
import { Hours } from "./Hours";
import { Limits } from "./Limits";
import { Lately } from "./Lately";
import { MailTab } from "./MailTab";
import { useAccountUse } from "./useAccountUse";
import { t } from "../../messages/accounts";

const ACCOUNT = "/api/v1/workspaces/{workspace_id}/accounts/{account_id}";

/** One account: how it is, when and how much it may send, what it did, and letting it go. */
export function Detail({ account, onGone }: { account: Account; onGone: () => void }) {
  const isAdmin = useMay("admin");
  const sendsMail = ["smtp", "google_mail", "microsoft_mail"].includes(account.provider);
  return (
    <Stack>
      <Standing account={account} onGone={onGone} />
      <Tabs defaultValue="limits" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="limits">{t("limits")}</Tabs.Tab>
          <Tabs.Tab value="hours">{t("sendingHours")}</Tabs.Tab>
          <Tabs.Tab value="lately">{t("activity")}</Tabs.Tab>
          {sendsMail && <Tabs.Tab value="mail">{t("email")}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="limits" pt="md">
          <Limits account={account} mayChange={isAdmin} />
        </Tabs.Panel>
        <Tabs.Panel value="hours" pt="md">
          <Hours account={account} mayChange={isAdmin} />
        </Tabs.Panel>
        <Tabs.Panel value="lately" pt="md">
          <Lately account={account} />
        </Tabs.Panel>
        {sendsMail && (
          <Tabs.Panel value="mail" pt="md">
            <MailTab account={account} mayChange={isAdmin} />
          </Tabs.Panel>
        )}
      </Tabs>
    </Stack>
  );
}

function Standing({ account, onGone }: { account: Account; onGone: () => void }) {
  const workspaceId = useWorkspaceId();
  const path = { workspace_id: workspaceId, account_id: account.id };
  const [mayEdit, isAdmin] = [useMay("editor"), useMay("admin")];
  const now = useNow();
  const health = healthOf(account, now);
  const [dialog, setDialog] = useState<"pause" | "resume" | "connect" | null>(null);
  const close = () => setDialog(null);
  const gone = account.state === "disconnected";
  const pause = useAct("account", (body: { reason: string; until: string | null }) => take(api.POST(`${ACCOUNT}/pause`, { params: { path }, body })), {
    done: () => t("handleIsPaused", { handle: account.handle }),
    after: close,
  });
  const leave = useAct("account", () => take(api.POST(`${ACCOUNT}/disconnect`, { params: { path }, body: { reason: t("disconnectedByAMember") } })), {
    done: ({ canceled }) => t("handleIsDisconnectedPostsWere", { handle: account.handle, canceled }),
    after: onGone,
  });
  const lift = useAct("account", () => take(api.POST(`${ACCOUNT}/lift-suspension`, { params: { path } })), {
    done: () => t("handleCanSendAgain", { handle: account.handle }),
  });
  const disconnect = async () => {
    const yes = await askFirst({
      title: t("disconnectHandle", { handle: account.handle }),
      message: t("weDeleteItsAccessAndCancel"),
      yes: t("disconnect"),
      danger: true,
    });
    if (yes) leave.mutate();
  };
  return (
    <Stack gap="xs">
      <Alert color={health.colour} title={health.message}>
        {health.more ?? t("readyToSend")}
      </Alert>
      <Text size="sm" c="dimmed">
        {t("networkZoneConnectedTime", { network: networkName(account.provider), zone: account.zone, time: moment(account.created_at, account.zone) })}
        {account.token_expires_at !== null && t("accessExpiresWhen", { when: fromNow(account.token_expires_at, now) })}
      </Text>
      <Today account={account} />
      <Group gap="xs">
        <Button size="xs" variant="default" component={Link} to={`/w/${workspaceId}/queue?account=${account.id}`}>
          {t("queue")}
        </Button>
        {mayEdit && !gone && account.lane?.paused !== true && (
          <Button size="xs" variant="default" onClick={() => setDialog("pause")}>
            {t("pauseDots")}
          </Button>
        )}
        {mayEdit && (account.lane?.paused === true || account.to_resume > 0) && (
          <Button size="xs" onClick={() => setDialog("resume")}>
            {t("resumeDots")}
          </Button>
        )}
        {isAdmin && account.state === "suspended" && (
          <Button size="xs" loading={lift.isPending} onClick={() => lift.mutate()}>
            {t("liftSuspension")}
          </Button>
        )}
        {isAdmin && account.state !== "connected" && account.state !== "suspended" && (
          <Button size="xs" onClick={() => setDialog("connect")}>
            {t("reconnectDots")}
          </Button>
        )}
        {isAdmin && !gone && (
          <Button size="xs" variant="default" loading={leave.isPending} onClick={() => void disconnect()}>
            {t("disconnectDots")}
          </Button>
        )}
      </Group>
      {dialog === "pause" && (
        <PauseDialog zone={account.zone} handle={account.handle} busy={pause.isPending} onPause={(asked) => pause.mutate(asked)} onClose={close} />
      )}
      {dialog === "resume" && <ResumeAccount accountId={account.id} onClose={close} />}
      {dialog === "connect" && <Connect again={account} onClose={close} />}
    </Stack>
  );
}

/** How much it sent since midnight there. */
function Today({ account }: { account: Account }) {
  const now = useNow();
  const use = useAccountUse(account.id);
  if (use.data === undefined) return null;
  const today = use.data.days.find(({ day }) => day === localDay(now, use.data.zone));
  return <Text size="sm">{t("sentToday", { sent: today?.sent ?? 0, refused: today?.refused ?? 0 })}</Text>;
}
