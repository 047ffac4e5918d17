import { Badge, Button, Group, Modal, Select, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { IconBroadcast, IconPlus } from "@tabler/icons-react";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMay, useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { askFirst } from "../../ui/ask";
import { Empty } from "../../ui/Empty";
import { LongList } from "../../ui/LongList";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { usePages } from "../../ui/Paged";
import { useSearchWords } from "../../ui/useSearchWords";
import { asSentence, networkName } from "../../ui/words";
import { t } from "../../messages/contacts";

type Channel = Schemas["RecipientChannelView"];
const CHANNELS = "/api/v1/workspaces/{workspace_id}/recipient-channels";
const networks = ["telegram", "slack", "discord", "webhook"];

/** Chats and channels that campaigns go to, and whether they can be reached. */
export function RecipientChannels() {
  const workspace_id = useWorkspaceId();
  const editor = useMay("editor");
  const [words, set] = useSearchWords();
  const [adding, { open, close }] = useDisclosure();
  const troubled = words.get("health") === "inactive";
  const channels = usePages<Channel, string>([workspace_id, "recipient-channels", troubled], (cursor) =>
    take(api.GET(CHANNELS, { params: { path: { workspace_id }, query: { active: troubled ? false : undefined, cursor, limit: 200 } } })),
  );
  return (
    <Stack>
      <Group justify="space-between">
        <Switch label={t("onlyInactive")} checked={troubled} onChange={(event) => set("health", event.currentTarget.checked ? "inactive" : null)} />
        {editor && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
            {t("newChannel")}
          </Button>
        )}
      </Group>
      <LongList
        pages={channels}
        label={t("channels")}
        rowHeight={68}
        keyOf={({ provider, id }) => `${provider} ${id}`}
        empty={
          <Empty icon={IconBroadcast} title={troubled ? t("allChannelsAreFine") : t("noChannelsYet")}>
            {troubled ? t("fiveFailuresInARow") : t("chatsThatCampaignsGoTo")}
          </Empty>
        }
      >
        {(channel) => <ChannelRow channel={channel} editor={editor} />}
      </LongList>
      {adding && <NewChannel onClose={close} />}
    </Stack>
  );
}

function ChannelRow({ channel, editor }: { channel: Channel; editor: boolean }) {
  const workspace_id = useWorkspaceId();
  const params = { path: { workspace_id } };
  const body = { provider: channel.provider, address: channel.address };
  const name = channel.title ?? channel.address;
  const reactivate = useAct("channel", () => take(api.POST(`${CHANNELS}/reactivate`, { params, body })), { done: () => t("nameIsActive", { name }) });
  const remove = useAct("channel", () => take(api.POST(`${CHANNELS}/delete`, { params, body })), { done: () => t("nameIsDeleted", { name }) });
  const ask = async () => {
    if (await askFirst({ title: t("deleteName", { name }), message: t("campaignsNoLongerGoThere"), yes: t("delete"), danger: true })) remove.mutate();
  };
  const health = !channel.active ? { word: t("inactive"), colour: "red" } : channel.error_count > 0 ? { word: t("failuresInARow", { failures: channel.error_count }), colour: "orange" } : { word: t("fine"), colour: "teal" };
  return (
    <Group h="100%" wrap="nowrap" justify="space-between" gap="sm">
      <Group gap="sm" wrap="nowrap" miw={0}>
        <NetworkIcon of={channel.provider} />
        <div style={{ minWidth: 0 }}>
          <Text size="sm" truncate>
            {name}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {[channel.address, channel.category, channel.last_error === null ? null : asSentence(channel.last_error)].filter((part) => part !== null && part !== "").join(" · ")}
          </Text>
        </div>
      </Group>
      <Group gap={6} wrap="nowrap" style={{ flex: "none" }}>
        <Badge variant="outline" color={health.colour}>
          {health.word}
        </Badge>
        {editor && (!channel.active || channel.error_count > 0) && (
          <Button size="compact-sm" loading={reactivate.isPending} onClick={() => reactivate.mutate()} aria-label={t("reactivateName", { name })}>
            {t("reactivate")}
          </Button>
        )}
        {editor && (
          <Button size="compact-sm" variant="default" loading={remove.isPending} onClick={() => void ask()} aria-label={t("deleteAudience", { name })}>
            {t("delete")}
          </Button>
        )}
      </Group>
    </Group>
  );
}

function NewChannel({ onClose }: { onClose: () => void }) {
  const workspace_id = useWorkspaceId();
  const form = useForm({ initialValues: { provider: "telegram", address: "", title: "", category: "" } });
  const save = useAct(
    "channel",
    ({ title, category, ...rest }: typeof form.values) => take(api.POST(CHANNELS, { params: { path: { workspace_id } }, body: { ...rest, title: title === "" ? null : title, category: category === "" ? null : category } })),
    {
      done: (kept) => t("nameIsSaved", { name: kept.title ?? kept.address }),
      after: onClose,
      refused: (error) => {
        if (error instanceof Problem) form.setErrors(error.fields);
      },
    },
  );
  return (
    <Modal opened onClose={onClose} title={t("newChannel")}>
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack>
          <Select label={t("network")} allowDeselect={false} data={networks.map((value) => ({ value, label: networkName(value) }))} {...form.getInputProps("provider")} />
          <TextInput label={t("address")} description={t("forExampleBakers")} required data-autofocus maxLength={254} {...form.getInputProps("address")} />
          <TextInput label={t("title")} {...form.getInputProps("title")} />
          <TextInput label={t("category")} {...form.getInputProps("category")} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("cancel")}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {t("save")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
