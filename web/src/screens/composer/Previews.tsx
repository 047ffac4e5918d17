// The post as each network gets it, with what that network would say against it.
import { Alert, Anchor, Group, Image, List, Paper, Stack, Text, Title } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";

import { useMe, useWorkspaceId } from "../../api/me";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { Thumbnail } from "../../ui/Thumbnail";
import { onClock } from "../../ui/times";
import { channelName } from "../../ui/words";
import { isEmpty, type Content } from "./content";
import { Counter } from "./Counters";
import { useFindings, type Finding, type Preview, type Went } from "./foresee";
import { t } from "../../messages/composer";

interface Props {
  content: Content;
  previews: UseQueryResult<Preview[]>;
  foreseen: readonly Went[];
  postId: string | null;
}

export function Previews({ content, previews, foreseen, postId }: Props) {
  const findings = useFindings(content, postId);
  if (content.places.length === 0) {
    return <Text c="dimmed">{t("chooseAccountsToSeeHowThe")}</Text>;
  }
  const found = isEmpty(content) ? [] : (findings.data?.findings ?? []);
  return (
    <Stack component="section" aria-label={t("previews")}>
      {previews.error !== null && (
        <Alert color="yellow" title={t("previewUnavailable")}>
          {previews.error.message}
        </Alert>
      )}
      {previews.data?.map((each) => (
        <Card
          key={`${each.account_id} ${each.channel}`}
          preview={each}
          findings={found.filter((one) => one.account_id === each.account_id && one.channel === each.channel)}
          refused={foreseen.filter((one) => one.outcome === "refused" && one.account_id === each.account_id && (one.channel === null || one.channel === each.channel))}
        />
      ))}
    </Stack>
  );
}

interface Trouble {
  code: string;
  message: string;
  blocking: boolean;
}

function Card({ preview, findings, refused }: { preview: Preview; findings: Finding[]; refused: Went[] }) {
  // Who has not begun to write needs no reproach; previews come a moment after the typing.
  const bare = preview.text === "" && preview.media.length === 0 && preview.parts.length === 0;
  // What the network refuses stands in both answers; say it once.
  const told = new Map<string, Trouble>();
  // What is changed to fit stands below its picture.
  const said = [...preview.problems, ...findings].filter(({ code }) => code !== "media_fitted");
  for (const each of bare ? [] : said) told.set(`${each.code} ${each.field}`, each);
  for (const each of refused) told.set("refused", { code: "refused", message: t("cantBeScheduledHereSays", { message: each.message ?? t("noReasonGiven") }), blocking: true });
  const troubles = [...told.values()].sort((one, other) => Number(other.blocking) - Number(one.blocking));
  return (
    <Paper withBorder p="md" component="article" aria-label={`${channelName(preview.channel)}, ${preview.handle ?? ""}`}>
      <Stack gap="xs">
        <Group gap="xs" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap" style={{ minWidth: 0 }}>
            <NetworkIcon of={preview.provider} />
            <Title order={2} size="h5" style={{ overflowWrap: "anywhere" }}>
              {preview.handle}
            </Title>
          </Group>
          <Text size="xs" c="dimmed">
            {channelName(preview.channel)}
          </Text>
        </Group>
        <Words text={preview.text} />
        <Pictures media={preview.media} fitted={preview.fitted} />
        <Counter name="" length={preview.length} limit={preview.limit} unit={preview.unit} />
        {preview.parts.map((part, index) => {
          const size = preview.part_lengths[index];
          return (
            <div key={index} style={{ borderLeft: "2px solid var(--mantine-color-default-border)", paddingLeft: 10 }}>
              <Words text={part} />
              {size !== undefined && <Counter name={t("partIndex", { index: index + 2 })} {...size} />}
            </div>
          );
        })}
        {preview.first_comment !== null && preview.first_comment !== "" && (
          <div>
            <Text size="xs" c="dimmed">
              {t("firstComment")}
            </Text>
            <Words text={preview.first_comment} />
          </div>
        )}
        {troubles.length > 0 && <Troubles troubles={troubles} />}
      </Stack>
    </Paper>
  );
}

function Words({ text }: { text: string }) {
  return (
    <Text size="sm" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
      {text}
    </Text>
  );
}

function Pictures({ media, fitted }: { media: Preview["media"]; fitted: Preview["fitted"] }) {
  const workspaceId = useWorkspaceId();
  if (media.length === 0) return null;
  return (
    <>
      <Group gap={4}>
        {media.map((each, index) => {
          const id = typeof each.id === "string" ? each.id : typeof each.media_id === "string" ? each.media_id : null;
          const alt = typeof each.alt === "string" ? each.alt : "";
          const made = fitted.find(({ media_id }) => media_id === id)?.file_url ?? null;
          if (id === null) return null;
          return made === null ? (
            <Thumbnail key={index} of={{ workspaceId, id }} alt={alt} w={96} h={96} />
          ) : (
            <Anchor key={index} href={made} target="_blank" rel="noreferrer" aria-label={alt === "" ? t("openTheImageAsItWill") : t("openTheImageNamed", { alt })}>
              <Image src={made} alt={alt} w={96} h={96} fit="cover" radius="sm" />
            </Anchor>
          );
        })}
      </Group>
      {fitted.map(({ media_id, message }) => (
        <Text key={media_id} size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {message}
        </Text>
      ))}
    </>
  );
}

function Troubles({ troubles }: { troubles: Trouble[] }) {
  const { zone } = useMe();
  const blocked = troubles.some((each) => each.blocking);
  return (
    <Alert color={blocked ? "red" : "yellow"} p="xs" title={blocked ? t("cantBeSentLikeThis") : t("worthChecking")}>
      <List size="sm">
        {troubles.map((each) => (
          <List.Item key={each.code + each.message}>{onClock(each.message, zone)}</List.Item>
        ))}
      </List>
    </Alert>
  );
}
