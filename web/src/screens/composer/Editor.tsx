import { Badge, MultiSelect, Stack, Tabs, TagsInput, Text, TextInput } from "@mantine/core";
import { useState } from "react";

import type { Account } from "../../api/accounts";
import { accountLabel } from "../../ui/AccountChoice";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { Section } from "../../ui/Section";
import { channelName } from "../../ui/words";
import { ownFields, type Channel, type Content } from "./content";
import { ChannelFields } from "./ChannelFields";
import { Counters } from "./Counters";
import type { Preview } from "./foresee";
import { MediaField } from "./MediaField";
import { CommentField, PartsField, TextField } from "./TextFields";

interface Props {
  accounts: Account[];
  content: Content;
  previews: Preview[];
  disabled: boolean;
  onChange: (content: Content) => void;
}

const EVERYWHERE = "everywhere";

export function Editor({ accounts, content, previews, disabled, onChange }: Props) {
  const [tab, setTab] = useState<string>(EVERYWHERE);
  const channels = [...new Set(previews.map((each) => each.channel))];
  const shown = channels.includes(tab as Channel) ? tab : EVERYWHERE;
  return (
    <fieldset disabled={disabled} style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}>
      <Stack gap="md">
      <Where accounts={accounts} content={content} onChange={onChange} />
      <Tabs value={shown} onChange={(next) => setTab(next ?? EVERYWHERE)} keepMounted={false}>
        <Tabs.List mb="sm" aria-label="Which words">
          <Tabs.Tab value={EVERYWHERE}>Everywhere</Tabs.Tab>
          {channels.map((channel) => (
            <Tabs.Tab
              key={channel}
              value={channel}
              leftSection={<NetworkIcon of={channel} size={16} />}
              rightSection={
                ownFields(content, channel).length > 0 && (
                  <Badge size="xs" variant="outline" tt="none" style={{ color: "var(--mantine-color-text)" }}>
                    changed
                  </Badge>
                )
              }
            >
              {channelName(channel)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={EVERYWHERE}>
          <Stack>
            <TextField label="Text" value={content.text} onChange={(text) => onChange({ ...content, text })} />
            <Counters previews={previews.filter(({ channel }) => content.variants[channel]?.text === undefined)} />
            <PartsField parts={content.parts} onChange={(parts) => onChange({ ...content, parts })} />
            <MediaField media={content.media} onChange={(media) => onChange({ ...content, media })} />
            <CommentField value={content.first_comment} onChange={(first_comment) => onChange({ ...content, first_comment })} />
          </Stack>
        </Tabs.Panel>
        {channels.map((channel) => (
          <Tabs.Panel key={channel} value={channel}>
            <ChannelFields channel={channel} content={content} previews={previews.filter((each) => each.channel === channel)} onChange={onChange} />
          </Tabs.Panel>
        ))}
      </Tabs>
      <Filing content={content} onChange={onChange} />
      </Stack>
    </fieldset>
  );
}

function Where({ accounts, content, onChange }: Pick<Props, "accounts" | "content" | "onChange">) {
  const chosen = [...new Set(content.places.map((each) => each.account_id))];
  return (
    <MultiSelect
      label="Where"
      placeholder={chosen.length === 0 ? "Choose accounts" : undefined}
      searchable
      hidePickedOptions
      nothingFoundMessage="No account is called that"
      value={chosen}
      data={accounts.map((each) => ({
        value: each.id,
        label: accountLabel(each),
        disabled: each.state === "disconnected",
      }))}
      onChange={(ids) =>
        onChange({
          ...content,
          places: [
            ...content.places.filter((each) => ids.includes(each.account_id)),
            ...ids.filter((id) => !chosen.includes(id)).map((account_id) => ({ account_id })),
          ],
        })
      }
    />
  );
}

function Filing({ content, onChange }: Pick<Props, "content" | "onChange">) {
  return (
    <Section title="More" says={<Text size="sm">Hashtags go out with the text; title and labels are for finding it here.</Text>}>
      <TagsInput
        label="Hashtags"
        placeholder={content.hashtags.length === 0 ? "Without #, Enter after each" : undefined}
        value={content.hashtags}
        onChange={(tags) => onChange({ ...content, hashtags: tags.map((each) => each.replace(/^#+/, "")).filter((each) => each !== "") })}
      />
      <TextInput
        label="Link"
        type="url"
        placeholder="https://"
        value={content.link}
        onChange={(event) => onChange({ ...content, link: event.currentTarget.value })}
      />
      <TextInput label="Title" value={content.title} maxLength={500} onChange={(event) => onChange({ ...content, title: event.currentTarget.value })} />
      <TagsInput label="Labels" placeholder={content.labels.length === 0 ? "Enter after each" : undefined} value={content.labels} onChange={(labels) => onChange({ ...content, labels })} />
    </Section>
  );
}
