// What every account may still send today, how the last four weeks went, and the proof that limits held.
import { Alert, Anchor, Button, Group, Stack, Table, Text, VisuallyHidden } from "@mantine/core";
import { IconPlugConnected } from "@tabler/icons-react";
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { useAccounts, type Account } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMay, useMe, useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { Empty } from "../../ui/Empty";
import { Fetched } from "../../ui/Fetched";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { Page } from "../../ui/Page";
import { Section } from "../../ui/Section";
import { addDays, localDay, longDay } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { actionsOf, can } from "../accounts/actions";
import { actionName, limitWords } from "../accounts/limits";
import { UseList } from "../accounts/Limits";
import { useChannels } from "../composer/useChannels";
import { kindName, reachedWords } from "./words";
import { t } from "../../messages/limits";

type Use = Schemas["AccountUseView"];
const DAYS = 28;
const MOST = 60; // accounts asked about at once

export default function Limits() {
  const accounts = useAccounts();
  const owner = useMe().instance_owner;
  return (
    <Page title={t("limits")} message={t("limitsMessage")}>
      <Fetched query={accounts}>
        {(found) => {
          const connected = found.filter(({ state }) => state !== "disconnected").slice(0, MOST);
          if (connected.length === 0) {
            return (
              <Empty icon={IconPlugConnected} title={t("noAccountYet")}>
                {t("connectOneFirst")}
              </Empty>
            );
          }
          return <Uses accounts={connected} />;
        }}
      </Fetched>
      <Planned />
      {owner && <Audit />}
    </Page>
  );
}

function Uses({ accounts }: { accounts: readonly Account[] }) {
  const workspace_id = useWorkspaceId();
  const channels = useChannels();
  const uses = useQueries({
    queries: accounts.map(({ id: account_id }) => ({
      queryKey: [workspace_id, "use", account_id],
      queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/accounts/{account_id}/use", { params: { path: { workspace_id, account_id } } })),
    })),
  });
  const known = accounts.flatMap((account, at) => {
    const use = uses[at]?.data;
    return use === undefined ? [] : [{ account, use }];
  });
  return (
    <>
      <Section title={t("usedNow")} message={t("usedNowMessage")}>
        <Stack gap="lg">
          {known.map(({ account, use }) => {
            const own = actionsOf(account, channels);
            const shown = use.uses.filter(({ limit, used }) => used !== null && (can(own, limit.action) || used > 0));
            if (shown.length === 0) return null;
            return (
              <div key={account.id}>
                <Group gap="xs" mb={4}>
                  <NetworkIcon of={account.provider} />
                  <Anchor component={Link} fw={650} to={`/w/${workspace_id}/accounts?account=${account.id}`}>
                    {account.handle}
                  </Anchor>
                </Group>
                <UseList uses={shown} />
              </div>
            );
          })}
          {known.every(({ use }) => use.uses.every(({ used }) => used === null)) && <Text size="sm">{t("noLimitsAreSet")}</Text>}
        </Stack>
      </Section>
      <HeatMap known={known} />
    </>
  );
}

/** Four weeks of all accounts at a glance: a darker cell is more; each says its number to those who do not see it. */
function HeatMap({ known }: { known: readonly { account: Account; use: Use }[] }) {
  const now = useNow(60_000);
  const today = localDay(now, known[0]?.use.zone ?? "UTC");
  const days = Array.from({ length: DAYS }, (_, at) => addDays(today, at - DAYS + 1));
  const most = Math.max(1, ...known.flatMap(({ use }) => use.days.map(({ sent }) => sent)));
  return (
    <Section title={t("lastFourWeeks")} message={t("darkerIsMore", { most })}>
      <Table.ScrollContainer minWidth={520} scrollAreaProps={{ viewportProps: { tabIndex: 0, "aria-label": t("lastFourWeeks") } }}>
        <Table layout="fixed" withRowBorders={false} horizontalSpacing={1} verticalSpacing={1} fz="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={140}>{t("account")}</Table.Th>
              {days.map((day, at) => (
                <Table.Th key={day} ta="left" fw={500} style={{ whiteSpace: "nowrap", overflow: "visible" }}>
                  {at % 7 === 0 ? short(day) : <VisuallyHidden>{longDay(day)}</VisuallyHidden>}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {known.map(({ account, use }) => {
              const sent = new Map(use.days.map((each) => [each.day, each.sent]));
              return (
                <Table.Tr key={account.id}>
                  <Table.Th scope="row" fw={400} style={{ overflow: "hidden", textOverflow: "ellipsis", whiteSpace: "nowrap" }}>
                    {account.handle}
                  </Table.Th>
                  {days.map((day) => {
                    const count = sent.get(day) ?? 0;
                    return (
                      <Table.Td key={day} title={t("sentOn", { count, day: longDay(day) })} p={0}>
                        <div className="heat" style={{ opacity: count === 0 ? 0.08 : 0.25 + (0.75 * count) / most }} />
                        <VisuallyHidden>{count}</VisuallyHidden>
                      </Table.Td>
                    );
                  })}
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  );
}

function short(day: string): string {
  const [, date = "", month = ""] = longDay(day).split(" ");
  return `${date} ${month.slice(0, 3)}`;
}

/** Whether what is planned keeps the limits, and moving what does not. */
function Planned() {
  const workspace_id = useWorkspaceId();
  const params = { path: { workspace_id } };
  const editor = useMay("editor");
  const accounts = useAccounts();
  const found = useQuery({
    queryKey: [workspace_id, "outreach-limits"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/outreach/limits", { params })),
  });
  const repair = useAct("outreach", () => take(api.POST("/api/v1/workspaces/{workspace_id}/outreach/repair-limits", { params })), { done: ({ moved }) => t("messagesWereMoved", { moved }) });
  const ask = async () => {
    const dry = await take(api.POST("/api/v1/workspaces/{workspace_id}/outreach/repair-limits", { params: { ...params, query: { dry_run: true } } }));
    if (await askFirst({ title: t("moveMessagesQuestion", { moved: dry.moved }), message: t("theyGetTheNextFreeTime", { without: dry.without_time }), yes: t("moveThem") })) repair.mutate();
  };
  return (
    <Section title={t("planned")} message={t("plannedMessage")}>
      <Fetched query={found} rows={1}>
        {(over) =>
          over.length === 0 ? (
            <Text size="sm">{t("everythingPlannedFits")}</Text>
          ) : (
            <Alert color="orange" role="status" title={t("tooMuchIsPlanned")}>
              <Stack gap="xs">
                {over.slice(0, 20).map((each) => (
                  <Text key={`${each.account_id} ${each.action} ${each.day} ${each.limit}`} size="sm">
                    {t("messagesBeyond", { handle: accounts.data?.find(({ id }) => id === each.account_id)?.handle ?? "", day: longDay(each.day), action: actionName(each.action), messages: each.messages })}
                  </Text>
                ))}
                {editor && (
                  <Button w="fit-content" size="compact-md" loading={repair.isPending} onClick={() => void ask()}>
                    {t("moveToFreeTimes")}
                  </Button>
                )}
              </Stack>
            </Alert>
          )
        }
      </Fetched>
    </Section>
  );
}

/** For owners of the installation: the worst that was ever reached under each limit, read from what was really sent. */
function Audit() {
  const workspace_id = useWorkspaceId();
  const accounts = useAccounts();
  const audit = useQuery({
    queryKey: [workspace_id, "limits", "audit"],
    queryFn: () => take(api.GET("/api/v1/system/limits-audit")),
    staleTime: 60_000,
  });
  return (
    <Section title={t("audit")} message={t("auditMessage")}>
      <Fetched query={audit} rows={2}>
        {({ clean, worst, drift }) => {
          const own = worst.filter((each) => each.workspace_id === workspace_id);
          const name = (scope: string) => accounts.data?.find(({ id }) => scope === `account:${id}`)?.handle ?? scope;
          return (
            <Stack>
              <Alert color={clean ? "teal" : "red"} role="status" title={clean ? t("limitsHeld") : t("limitsWereBroken")}>
                {drift.length === 0 ? t("countersAreRight") : t("countersAreWrong", { drift: drift.length })}
              </Alert>
              {own.length > 0 && (
                <Table.ScrollContainer minWidth={480} scrollAreaProps={{ viewportProps: { tabIndex: 0, "aria-label": t("audit") } }}>
                  <Table>
                    <Table.Thead>
                      <Table.Tr>
                        <Table.Th>{t("account")}</Table.Th>
                        <Table.Th>{t("limit")}</Table.Th>
                        <Table.Th>{t("mostEver")}</Table.Th>
                        <Table.Th>{t("held")}</Table.Th>
                      </Table.Tr>
                    </Table.Thead>
                    <Table.Tbody>
                      {own.map((each) => (
                        <Table.Tr key={`${each.scope} ${each.action} ${each.kind}`}>
                          <Table.Td>{name(each.scope)}</Table.Td>
                          <Table.Td>
                            {actionName(each.action)}: {kindName(each.kind) ?? limitWords({ kind: each.kind as never, action: "*", amount: each.limit })}
                          </Table.Td>
                          <Table.Td>{reachedWords(each)}</Table.Td>
                          <Table.Td>{each.broken ? t("no") : t("yes")}</Table.Td>
                        </Table.Tr>
                      ))}
                    </Table.Tbody>
                  </Table>
                </Table.ScrollContainer>
              )}
            </Stack>
          );
        }}
      </Fetched>
    </Section>
  );
}
