import { Alert, Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";

import type { Account } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { networkName } from "../../ui/words";
import { ResumeAccount } from "../queue/ResumeAccount";
import type { Connection } from "./useConnect";
import { t } from "../../messages/accounts";

/** What a connection brought: one sign-in may open several pages or profiles, and not all are wanted. */
export function Brought({ connection, onDone }: { connection: Connection; onDone: () => void }) {
  const workspaceId = useWorkspaceId();
  const [kept, setKept] = useState(connection.accounts.map(({ id }) => id));
  const several = connection.accounts.length > 1;
  const keep = useAct(
    "account",
    async () => {
      for (const { id } of connection.accounts.filter((each) => !kept.includes(each.id)))
        await take(
          api.POST("/api/v1/workspaces/{workspace_id}/accounts/{account_id}/disconnect", {
            params: { path: { workspace_id: workspaceId, account_id: id } },
            body: { reason: t("notSelectedWhenItWasConnected") },
          }),
        );
    },
    { done: () => t("accountsConnected", { kept: kept.length }), after: onDone },
  );
  return (
    <Stack>
      {several ? (
        <Checkbox.Group value={kept} onChange={setKept} label={t("thisSignInGivesAccessTo")}>
          <Stack gap="xs" mt="xs">
            {connection.accounts.map((account) => (
              <Checkbox key={account.id} value={account.id} label={<Name account={account} />} />
            ))}
          </Stack>
        </Checkbox.Group>
      ) : (
        connection.accounts.map((account) => (
          <Stack key={account.id} gap={4}>
            <Name account={account} />
            <Text size="sm" c="dimmed">
              {account.lane?.paused === true
                ? t("itsConnectedButStillPausedNothing")
                : t("itsReadySetItsPostingTimes")}
            </Text>
            <CameDue account={account} />
          </Stack>
        ))
      )}
      {several && connection.accounts.map((account) => <CameDue key={account.id} account={account} />)}
      <Group justify="flex-end">
        {!several && (
          <Button variant="default" component={Link} to={`/w/${workspaceId}/queue?account=${connection.accounts[0]?.id ?? ""}`}>
            {t("setPostingTimes")}
          </Button>
        )}
        <Button disabled={kept.length === 0} loading={keep.isPending} onClick={() => keep.mutate()}>
          {several ? t("keepAccounts", { kept: kept.length }) : t("done")}
        </Button>
      </Group>
    </Stack>
  );
}

/** What came due while it was away waits; what happens to it is a person's choice. */
function CameDue({ account }: { account: Account }) {
  const [choosing, setChoosing] = useState(false);
  const [done, setDone] = useState(false);
  if (account.to_resume === 0 || done) return null;
  return (
    <Alert color="yellow" title={t("handlePostsWereDueWhileIt", { handle: account.handle, toResume: account.to_resume })}>
      <Group justify="space-between">
        <Text size="sm">{t("theyWontBeSentUntilYou")}</Text>
        <Button size="xs" onClick={() => setChoosing(true)}>
          {t("decideDots")}
        </Button>
      </Group>
      {choosing && <ResumeAccount accountId={account.id} onClose={() => setChoosing(false)} onDone={() => setDone(true)} />}
    </Alert>
  );
}

function Name({ account }: { account: Account }) {
  const kind = account.kind ?? "";
  return (
    <Group gap={6}>
      <NetworkIcon of={account.provider} />
      <Text size="sm">
        {account.handle} · {networkName(account.provider)}
        {kind !== "" && ` (${kind})`}
      </Text>
    </Group>
  );
}
