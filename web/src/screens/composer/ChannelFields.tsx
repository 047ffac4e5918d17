// One channel's own words: each field follows the common one until it is given its own.
import { Button, Group, Paper, Stack, Text, TextInput } from "@mantine/core";
import type { Dispatch, ReactNode, SetStateAction } from "react";

import { channelName } from "../../ui/words";
import { vary, varyMedia, type Channel, type Content, type Field, type Variant } from "./content";
import { ChannelOptions } from "./ChannelOptions";
import { Counters } from "./Counters";
import { HashtagsField } from "./HashtagsField";
import type { Preview } from "./foresee";
import { MediaField } from "./MediaField";
import { CommentField, PartsField, TextField } from "./TextFields";
import type { ChannelAbout } from "./useChannels";
import { t } from "../../messages/composer";

interface Props {
  channel: Channel;
  about: ChannelAbout | undefined;
  content: Content;
  previews: Preview[];
  onChange: Dispatch<SetStateAction<Content>>;
}

export function ChannelFields({ channel, about, content, previews, onChange }: Props) {
  const name = channelName(channel);
  const own = content.variants[channel] ?? {};
  const give =
    <F extends Field>(field: F) =>
    (value: Variant[F] | undefined) =>
      onChange(vary(content, channel, field, value));
  return (
    <Stack>
      <Own name={t("text")} where={name} own={own.text !== undefined} common={content.text === "" ? t("noText") : content.text} onOwn={() => give("text")(content.text)} onCommon={() => give("text")(undefined)}>
        <TextField label={t("textOnName", { name })} value={own.text ?? ""} onChange={give("text")} />
      </Own>
      <Counters previews={previews} />
      <Own name={t("thread")} where={name} own={own.parts !== undefined} common={content.parts.length === 0 ? t("noMoreParts") : t("moreParts", { parts: content.parts.length })} onOwn={() => give("parts")(content.parts)} onCommon={() => give("parts")(undefined)}>
        <PartsField parts={own.parts ?? []} onChange={give("parts")} />
      </Own>
      <Own name={t("imagesAndVideos")} where={name} own={own.media !== undefined} common={content.media.length === 0 ? t("none") : t("files", { media: content.media.length })} onOwn={() => give("media")(content.media)} onCommon={() => give("media")(undefined)}>
        <MediaField media={own.media ?? []} onChange={(change) => onChange((now) => varyMedia(now, channel, change))} />
      </Own>
      <Own name={t("firstComment")} where={name} own={own.first_comment !== undefined} common={content.first_comment === "" ? t("none") : content.first_comment} onOwn={() => give("first_comment")(content.first_comment)} onCommon={() => give("first_comment")(undefined)}>
        <CommentField value={own.first_comment ?? ""} onChange={give("first_comment")} />
      </Own>
      <Own name={t("hashtags")} where={name} own={own.hashtags !== undefined} common={content.hashtags.length === 0 ? t("onlyTheCategorys") : content.hashtags.map((tag) => `#${tag}`).join(" ")} onOwn={() => give("hashtags")(content.hashtags)} onCommon={() => give("hashtags")(undefined)}>
        <HashtagsField label={t("hashtagsOnName", { name })} description={t("replacesTheMainHashtagsAndThe")} tags={own.hashtags ?? []} onChange={give("hashtags")} />
      </Own>
      <Own name={t("link")} where={name} own={own.link !== undefined} common={content.link === "" ? t("none") : content.link} onOwn={() => give("link")(content.link)} onCommon={() => give("link")(undefined)}>
        <TextInput label={t("linkOnName", { name })} type="url" placeholder="https://" value={own.link ?? ""} onChange={(event) => give("link")(event.currentTarget.value)} />
      </Own>
      {about !== undefined && about.options.length > 0 && <ChannelOptions channel={channel} options={about.options} content={content} onChange={onChange} />}
    </Stack>
  );
}

function Own(props: { name: string; where: string; own: boolean; common: string; onOwn: () => void; onCommon: () => void; children: ReactNode }) {
  if (props.own) {
    return (
      <div>
        {props.children}
        <Button mt={4} size="compact-xs" variant="default" onClick={props.onCommon} aria-label={t("nameResetToMainPost", { name: props.name })}>
          {t("resetToMainPost")}
        </Button>
      </div>
    );
  }
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div style={{ minWidth: 0 }}>
          <Text size="sm" fw={600}>
            {t("nameSameAsMainPost", { name: props.name })}
          </Text>
          <Text size="sm" c="dimmed" lineClamp={2}>
            {props.common}
          </Text>
        </div>
        <Button size="compact-sm" variant="default" style={{ flex: "none" }} onClick={props.onOwn} aria-label={t("customizeNameOnWhere", { name: props.name.toLowerCase(), where: props.where })}>
          {t("customize")}
        </Button>
      </Group>
    </Paper>
  );
}
