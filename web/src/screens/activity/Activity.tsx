// What went out, the newest first, and what is to go out: one line a delivery, the story in a drawer.
import { Button, Group, MultiSelect, SegmentedControl, Stack, Text, UnstyledButton } from "@mantine/core";
import { IconActivityHeartbeat } from "@tabler/icons-react";
import { useNavigate, useParams, useSearchParams } from "react-router";

import { useAccounts, type Account } from "../../api/accounts";
import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { AccountChoice } from "../../ui/AccountChoice";
import { Empty } from "../../ui/Empty";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { Page } from "../../ui/Page";
import { Paged, usePages } from "../../ui/Paged";
import { StateBadge } from "../../ui/StateBadge";
import { ago, fromNow, moment, placeOf } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { asSentence, channelName, standing, stateWord } from "../../ui/words";
import ExplainDrawer from "./ExplainDrawer";
import { t } from "../../messages/activity";

type Delivery = Schemas["Delivery"];
type State = Delivery["state"];
const happened: State[] = ["sending", "sent", "failed", "unconfirmed", "missed", "canceled", "skipped"];
const toCome: State[] = ["scheduled", "draft"];

export default function Activity() {
  const { "*": chosen } = useParams();
  const workspace_id = useWorkspaceId();
  const go = useNavigate();
  const [search, setSearch] = useSearchParams();
  const accounts = useAccounts();
  const account_id = search.get("account") ?? undefined;
  const ahead = search.get("time") === "ahead";
  const states = ahead ? toCome : happened;
  const wanted = search.getAll("state").filter((each): each is State => states.includes(each as State));
  const deliveries = usePages([workspace_id, "deliveries", ahead, account_id, wanted], (cursor?: string) =>
    take(
      api.GET("/api/v1/workspaces/{workspace_id}/deliveries", {
        params: { path: { workspace_id }, query: { account_id, state: wanted.length === 0 ? states : wanted, order: ahead ? "soonest" : "happened", cursor } },
      }),
    ),
  );
  const open = (id: string | null) => void go({ pathname: `/w/${workspace_id}/activity${id === null ? "" : `/${id}`}`, search: search.toString() });
  return (
    <Page title={t("activity")} message={t("everythingSentAndPlannedOpenA")}>
      <Group align="flex-end" gap="xs">
        <SegmentedControl
          aria-label={t("time")}
          value={ahead ? "ahead" : "past"}
          data={[
            { value: "past", label: t("past") },
            { value: "ahead", label: t("upcoming") },
          ]}
          onChange={(next) =>
            setSearch((old) => {
              old.delete("state");
              if (next === "ahead") old.set("time", "ahead");
              else old.delete("time");
              return old;
            })
          }
        />
        <AccountChoice
          accounts={accounts.data ?? []}
          value={account_id ?? null}
          onChange={(id) =>
            setSearch((old) => {
              old.set("account", id);
              return old;
            })
          }
        />
        <MultiSelect
          aria-label={t("status")}
          placeholder={wanted.length === 0 ? t("anyStatus") : undefined}
          clearable
          miw={220}
          value={wanted}
          data={states.map((value) => ({ value, label: stateWord(value).message }))}
          onChange={(next) =>
            setSearch((old) => {
              old.delete("state");
              for (const each of next) old.append("state", each);
              return old;
            })
          }
        />
        {(account_id !== undefined || wanted.length > 0) && (
          <Button variant="subtle" onClick={() => setSearch(ahead ? { time: "ahead" } : {})}>
            {t("showAll")}
          </Button>
        )}
      </Group>
      <Paged
        pages={deliveries}
        more={t("showMore")}
        empty={
          <Empty icon={IconActivityHeartbeat} title={t("nothingHereYet")}>
            {account_id !== undefined || wanted.length > 0
              ? t("nothingMatchesTheseFilters")
              : ahead
                ? t("nothingIsScheduledPostsShowUp")
                : t("nothingHasBeenSentYetCheck")}
          </Empty>
        }
      >
        {(rows) => (
          <Stack component="ul" gap={0} p={0} m={0} style={{ listStyle: "none" }}>
            {rows.map((each) => (
              <li key={each.id}>
                <Line delivery={each} account={accounts.data?.find(({ id }) => id === each.account_id)} onOpen={() => open(each.id)} />
              </li>
            ))}
          </Stack>
        )}
      </Paged>
      <ExplainDrawer deliveryId={chosen === undefined || chosen === "" ? null : chosen} onClose={() => open(null)} />
    </Page>
  );
}

/** When an unconfirmed one is looked for again. */
const lookWords = (at: string | null, now: Date) => (at !== null && new Date(at) > now ? t("checkingAgainWhen", { when: fromNow(at, now) }) : t("checking"));

/** When it came to this: what the server lists it by. */
const happenedAt = ({ sent_at, failed_at, ended_at, last_attempt_at, due_at }: Delivery) => sent_at ?? failed_at ?? ended_at ?? last_attempt_at ?? due_at;

function Line({ delivery, account, onOpen }: { delivery: Delivery; account: Account | undefined; onOpen: () => void }) {
  const now = useNow();
  const zone = delivery.zone ?? account?.zone ?? "UTC";
  const isAhead = toCome.includes(delivery.state);
  const at = isAhead ? delivery.due_at : happenedAt(delivery);
  const looks = delivery.state === "unconfirmed" ? ` · ${lookWords(delivery.look_at ?? null, now)}` : "";
  const why = delivery.held?.message ?? delivery.reason;
  const text = typeof delivery.content.text === "string" ? delivery.content.text : "";
  return (
    <UnstyledButton onClick={onOpen} w="100%" py="xs" px={4} style={{ borderBottom: "1px solid var(--mantine-color-default-border)" }}>
      <Group wrap="nowrap" gap="sm" align="flex-start">
        <NetworkIcon of={account?.provider ?? delivery.channel} />
        <div style={{ minWidth: 0, flex: 1 }}>
          <Text size="sm" truncate>
            {text === "" ? channelName(delivery.channel) : text}
          </Text>
          <Text size="xs" c="dimmed">
            {account?.handle ?? t("aRemovedAccount")} · {channelName(delivery.channel)} · {moment(at, zone)} {placeOf(zone)} ({isAhead ? fromNow(at, now) : ago(at, now)}){looks}
          </Text>
          {why !== null && delivery.state !== "sent" && <Text size="xs">{asSentence(why)}</Text>}
        </div>
        <StateBadge state={standing(delivery)} />
      </Group>
    </UnstyledButton>
  );
}
