import { Group, Select, Text } from "@mantine/core";
import { Link } from "react-router";

import { useAccounts } from "../../api/accounts";
import { api, take, type Schemas } from "../../api/client";
import { useWorkspace, useWorkspaceId } from "../../api/me";
import { LongList } from "../../ui/LongList";
import { usePages } from "../../ui/Paged";
import { Section } from "../../ui/Section";
import { StateBadge } from "../../ui/StateBadge";
import { moment } from "../../ui/times";
import { useSearchWords } from "../../ui/useSearchWords";
import { asSentence, stateWord } from "../../ui/words";
import { CAMPAIGN, whileMoving, type Campaign } from "./useCampaign";
import { t } from "../../messages/campaigns";

type Recipient = Schemas["CampaignRecipientView"];
type Skipped = Schemas["CampaignSkippedView"];
const states = ["scheduled", "sending", "sent", "failed", "unconfirmed", "missed", "skipped", "canceled"] as const;
const LEFT_OUT = "left_out";
const PAGE = 200;

/** Everybody of the audience, with what became of the message and why. */
export function Recipients({ campaign }: { campaign: Campaign }) {
  const [search, set] = useSearchWords();
  const wanted = search.get("status");
  const state = states.find((each) => each === wanted);
  return (
    <Section
      title={t("recipients")}
      actions={
        <Select
          aria-label={t("status")}
          placeholder={t("anyStatus")}
          clearable
          w={210}
          value={wanted === LEFT_OUT ? LEFT_OUT : (state ?? null)}
          data={[...states.map((value) => ({ value, label: stateWord(value).message })), { value: LEFT_OUT, label: t("leftOutBeforeSending") }]}
          onChange={(value) => set("status", value)}
        />
      }
    >
      {wanted === LEFT_OUT ? <LeftOut campaign={campaign} /> : <Everybody key={state} campaign={campaign} state={state} />}
    </Section>
  );
}

function Everybody({ campaign, state }: { campaign: Campaign; state: (typeof states)[number] | undefined }) {
  const workspace_id = useWorkspaceId();
  const recipients = usePages<Recipient, string>(
    [workspace_id, "recipients", campaign.id, state],
    (cursor) => take(api.GET(`${CAMPAIGN}/recipients`, { params: { path: { workspace_id, campaign_id: campaign.id }, query: { state, cursor, limit: PAGE } } })),
    // What was scrolled down to is not read again and again: the numbers above move, the first page does.
    { refetchInterval: (rows) => (rows.length > PAGE ? false : whileMoving([campaign])) },
  );
  return (
    <LongList
      pages={recipients}
      label={t("recipients")}
      keyOf={(each) => each.delivery_id}
      empty={
        <Text size="sm" c="dimmed">
          {state === undefined ? t("noRecipientsYet") : t("noRecipientWithThisStatus")}
        </Text>
      }
    >
      {(each) => <RecipientRow recipient={each} />}
    </LongList>
  );
}

function RecipientRow({ recipient }: { recipient: Recipient }) {
  const workspace_id = useWorkspaceId();
  const zone = useWorkspace().data?.zone ?? "UTC";
  const account = useAccounts().data?.find(({ id }) => id === recipient.account_id);
  const at = recipient.sent_at ?? recipient.failed_at;
  const about = [account?.handle, at === null ? null : moment(at, zone), recipient.attempts > 1 ? t("afterAttempts", { attempts: recipient.attempts }) : null, recipient.reason === null ? null : asSentence(recipient.reason)];
  return (
    <Group h="100%" wrap="nowrap" justify="space-between" gap="sm">
      <div style={{ minWidth: 0 }}>
        <Text size="sm" truncate>
          <Link to={`/w/${workspace_id}/activity/${recipient.delivery_id}`}>{recipient.recipient}</Link>
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {about.filter((part) => part !== null && part !== undefined).join(" · ")}
        </Text>
      </div>
      <StateBadge state={recipient.state} />
    </Group>
  );
}

/** Members for whom no message was made. */
function LeftOut({ campaign }: { campaign: Campaign }) {
  const workspace_id = useWorkspaceId();
  const skipped = usePages<Skipped, string>([workspace_id, "recipients", campaign.id, LEFT_OUT], (cursor) =>
    take(api.GET(`${CAMPAIGN}/skipped`, { params: { path: { workspace_id, campaign_id: campaign.id }, query: { cursor, limit: PAGE } } })),
  );
  return (
    <LongList
      pages={skipped}
      label={t("leftOutBeforeSending")}
      keyOf={(each) => `${each.kind} ${each.provider} ${each.member_id}`}
      empty={
        <Text size="sm" c="dimmed">
          {t("nobodyWasLeftOut")}
        </Text>
      }
    >
      {(each) => (
        <Group h="100%" gap="sm">
          <div style={{ minWidth: 0 }}>
            <Text size="sm" truncate>
              {each.recipient ?? each.member_id}
            </Text>
            <Text size="xs" c="dimmed" truncate>
              {asSentence(each.message)}
            </Text>
          </div>
        </Group>
      )}
    </LongList>
  );
}
