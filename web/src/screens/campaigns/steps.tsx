import { Alert, Anchor, Button, Checkbox, Group, NumberInput, Select, Stack, Switch, Text, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { useAccounts, type Account } from "../../api/accounts";
import { useAct } from "../../api/act";
import { useAudiences } from "../../api/audiences";
import { api, take } from "../../api/client";
import { useMe, useWorkspaceId } from "../../api/me";
import { useTemplates } from "../../api/templates";
import { accountLabel } from "../../ui/AccountChoice";
import { Fetched } from "../../ui/Fetched";
import { MessagePreview } from "../../ui/MessagePreview";
import { useNow } from "../../ui/useNow";
import { WallTimeInput } from "../../ui/WallTimeInput";
import { channelName } from "../../ui/words";
import { useChannels, type ChannelAbout } from "../composer/useChannels";
import type { CampaignForm } from "./form";
import { t } from "../../messages/campaigns";

type Form = UseFormReturnType<CampaignForm>;
const TEMPLATES = "/api/v1/workspaces/{workspace_id}/templates/{template_id}";

/** The channels that messages go to. */
export const messageChannels = ["email", "telegram", "linkedin_message", "linkedin_invitation", "linkedin_inmail", "slack", "discord", "webhook"] as const;
export type MessageChannel = (typeof messageChannels)[number];

/** The accounts that can send to a channel. */
export function sendersOf(channel: string, accounts: readonly Account[], channels: readonly ChannelAbout[]): Account[] {
  const providers = new Set(channels.filter((each) => each.channel === channel).map(({ provider }) => provider));
  return accounts.filter(({ provider, state }) => providers.has(provider) && state !== "disconnected");
}

export function WhoFields({ form }: { form: Form }) {
  const workspaceId = useWorkspaceId();
  const audiences = useAudiences();
  const [accounts, channels] = [useAccounts().data ?? [], useChannels()];
  const offered = messageChannels.filter((each) => sendersOf(each, accounts, channels).length > 0);
  return (
    <Stack mt="md">
      <TextInput label={t("name")} description={t("onlyYouSeeIt")} required data-autofocus maxLength={200} {...form.getInputProps("name")} />
      <Select
        label={t("audience")}
        placeholder={t("chooseAnAudience")}
        required
        searchable
        nothingFoundMessage={t("noAudience")}
        data={(audiences.data ?? []).map(({ id, name, size }) => ({ value: id, label: t("audienceSize", { name, size }) }))}
        {...form.getInputProps("audience_id")}
      />
      {audiences.data?.length === 0 && (
        <Alert color="blue">
          <Anchor component={Link} to={`/w/${workspaceId}/contacts/audiences`}>
            {t("createAnAudienceFirst")}
          </Anchor>
        </Alert>
      )}
      <Select
        label={t("sendBy")}
        allowDeselect={false}
        data={(offered.length === 0 ? (["email"] as const) : offered).map((value) => ({ value, label: channelName(value) }))}
        {...form.getInputProps("channel")}
        onChange={(channel) => form.setValues({ channel: channel as CampaignForm["channel"], account_ids: [] })}
      />
    </Stack>
  );
}

export function WhatFields({ form }: { form: Form }) {
  const workspaceId = useWorkspaceId();
  const templates = useTemplates();
  return (
    <Stack mt="md">
      <Select
        label={t("template")}
        placeholder={t("chooseATemplate")}
        required
        searchable
        nothingFoundMessage={t("noTemplate")}
        data={(templates.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        {...form.getInputProps("template_id")}
      />
      <Anchor component={Link} to={`/w/${workspaceId}/templates/${form.values.template_id ?? "new"}`} size="sm" w="fit-content">
        {form.values.template_id === null ? t("writeATemplate") : t("editTheTemplate")}
      </Anchor>
      {form.values.template_id !== null && <Sample templateId={form.values.template_id} channel={form.values.channel as MessageChannel} />}
    </Stack>
  );
}

function Sample({ templateId, channel }: { templateId: string; channel: MessageChannel }) {
  const workspace_id = useWorkspaceId();
  const preview = useQuery({
    queryKey: [workspace_id, "template-preview", templateId, channel],
    queryFn: () => take(api.POST(`${TEMPLATES}/preview`, { params: { path: { workspace_id, template_id: templateId } }, body: { channel } })),
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <Fetched query={preview} rows={2}>
      {(shown) => (
        <>
          <Text size="sm" c="dimmed">
            {t("withExampleValues")}
          </Text>
          <MessagePreview preview={shown} />
        </>
      )}
    </Fetched>
  );
}

export function HowFields({ form, zone }: { form: Form; zone: string }) {
  const [accounts, channels] = [useAccounts().data ?? [], useChannels()];
  const now = useNow();
  const senders = sendersOf(form.values.channel, accounts, channels);
  const byHand = senders.filter(({ id, bulk }) => form.values.account_ids.includes(id) && !bulk && form.values.channel === "email");
  return (
    <Stack mt="md">
      <Checkbox.Group label={t("sendFrom")} description={t("severalTakeTurns")} required {...form.getInputProps("account_ids")}>
        <Stack gap={6} mt={6}>
          {senders.map((each) => (
            <Checkbox key={each.id} value={each.id} label={accountLabel(each)} />
          ))}
          {senders.length === 0 && <Text size="sm">{t("noAccountSendsThere", { channel: channelName(form.values.channel) })}</Text>}
        </Stack>
      </Checkbox.Group>
      {byHand.length > 0 && (
        <Alert color="yellow" role="status">
          {t("keepsLimitsOfMailByHand", { handles: byHand.map(({ handle }) => handle).join(", ") })}
        </Alert>
      )}
      <NumberInput label={t("messagesPerMinuteAtMost")} description={t("leaveEmptyForAsFast")} maw={320} min={1} max={600_000} allowDecimal={false} {...form.getInputProps("rate")} />
      <WallTimeInput label={t("start")} zone={zone} from={now} description={t("leaveEmptyToStartAtOnce")} {...form.getInputProps("start")} />
      <Switch label={t("skipPeopleWithMissingValues")} description={t("elseItDoesntStart")} {...form.getInputProps("skip_incomplete", { type: "checkbox" })} />
      <NumberInput label={t("pauseWhenPercentFail")} description={t("countedFromTheFiftieth")} maw={320} min={1} max={100} suffix=" %" allowDecimal={false} {...form.getInputProps("max_error_percent")} />
    </Stack>
  );
}

/** One mail to oneself, to see it where it will be read. */
export function TestMail({ templateId, accountIds }: { templateId: string; accountIds: readonly string[] }) {
  const workspace_id = useWorkspaceId();
  const { email } = useMe();
  const send = useAct(
    "template",
    (account_id: string) => take(api.POST(`${TEMPLATES}/test`, { params: { path: { workspace_id, template_id: templateId } }, body: { account_id } })),
    { done: ({ to, waits }) => (waits.length === 0 ? t("testMailIsOnItsWay", { to }) : t("testMailWaits", { to, why: waits.join(" ") })) },
  );
  const [first] = accountIds;
  if (first === undefined) return null;
  return (
    <Group>
      <Button variant="default" loading={send.isPending} onClick={() => send.mutate(first)}>
        {t("sendAMailTo", { email })}
      </Button>
    </Group>
  );
}
