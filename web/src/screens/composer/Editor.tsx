import { Badge, Group, Stack, Tabs } from "@mantine/core";
import { useState, type Dispatch, type SetStateAction } from "react";

import type { Account } from "../../api/accounts";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { channelName } from "../../ui/words";
import { isEmpty, isVaried, type Channel, type Content } from "./content";
import { ChannelFields } from "./ChannelFields";
import { Counters } from "./Counters";
import { Filing } from "./Filing";
import type { Preview } from "./foresee";
import { MediaField } from "./MediaField";
import { CommentField, PartsField, TextField } from "./TextFields";
import { useChannels } from "./useChannels";
import { Where } from "./Where";
import { t } from "../../messages/composer";

interface Props {
  accounts: Account[];
  content: Content;
  previews: Preview[];
  disabled: boolean;
  onChange: Dispatch<SetStateAction<Content>>;
}

const EVERYWHERE = "everywhere";

export function Editor({ accounts, content, previews, disabled, onChange }: Props) {
  const [tab, setTab] = useState<string>(EVERYWHERE);
  const about = useChannels();
  const channels = [...new Set(previews.map((each) => each.channel))];
  const shown = channels.includes(tab as Channel) ? tab : EVERYWHERE;
  return (
    <fieldset disabled={disabled} style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}>
      <Stack gap="md">
      <Where accounts={accounts} channels={about} places={content.places} foreseen={previews} onChange={(places) => onChange({ ...content, places })} />
      <Tabs value={shown} onChange={(next) => setTab(next ?? EVERYWHERE)} keepMounted={false}>
        <Tabs.List mb="sm" aria-label={t("version")}>
          <Tabs.Tab value={EVERYWHERE}>{t("mainPost")}</Tabs.Tab>
          {channels.map((channel) => (
            <Tabs.Tab
              key={channel}
              value={channel}
              leftSection={<NetworkIcon of={channel} size={16} />}
              rightSection={<Marks changed={isVaried(content, channel)} blocked={blocks(content, previews, channel)} />}
            >
              {channelName(channel)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={EVERYWHERE}>
          <Stack>
            <TextField label={t("text")} value={content.text} onChange={(text) => onChange({ ...content, text })} />
            <Counters previews={previews.filter(({ channel }) => content.variants[channel]?.text === undefined)} />
            <PartsField parts={content.parts} onChange={(parts) => onChange({ ...content, parts })} />
            <MediaField media={content.media} onChange={(change) => onChange((now) => ({ ...now, media: change(now.media) }))} />
            <CommentField value={content.first_comment} onChange={(first_comment) => onChange({ ...content, first_comment })} />
          </Stack>
        </Tabs.Panel>
        {channels.map((channel) => (
          <Tabs.Panel key={channel} value={channel}>
            <ChannelFields channel={channel} about={about.find((each) => each.channel === channel)} content={content} previews={previews.filter((each) => each.channel === channel)} onChange={onChange} />
          </Tabs.Panel>
        ))}
      </Tabs>
      <Filing content={content} onChange={onChange} />
      </Stack>
    </fieldset>
  );
}

/** Say whether the network would refuse what is written; who has not begun to write needs no reproach. */
function blocks(content: Content, previews: Preview[], channel: Channel): boolean {
  return !isEmpty(content) && previews.some((each) => each.channel === channel && each.problems.some(({ blocking }) => blocking));
}

function Marks({ changed, blocked }: { changed: boolean; blocked: boolean }) {
  if (!changed && !blocked) return null;
  const mark = (word: string, colour: string) => (
    <Badge size="xs" variant="outline" color={colour}>
      {word}
    </Badge>
  );
  return (
    <Group gap={4} wrap="nowrap" component="span">
      {changed && mark(t("customized"), "gray")}
      {blocked && mark(t("cantBeSent"), "red")}
    </Group>
  );
}
