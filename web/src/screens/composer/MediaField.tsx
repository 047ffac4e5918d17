// Pictures and videos: uploaded or taken from the library, each with a description for those who cannot see it.
import { ActionIcon, Button, FileButton, Group, Paper, Progress, Stack, Text, Textarea } from "@mantine/core";
import { IconArrowLeft, IconArrowRight, IconPhotoPlus, IconX } from "@tabler/icons-react";
import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useRef, useState, type DragEvent } from "react";

import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { tellProblem } from "../../ui/tell";
import { Thumbnail } from "../../ui/Thumbnail";
import type { MediaUse } from "./content";
import { Library } from "./Library";
import { upload } from "./upload";
import { t } from "../../messages/composer";

type Media = Schemas["MediaView"];

/** A change of the list as it is when the change is made: an upload ends long after it was begun. */
type Change = (media: MediaUse[]) => MediaUse[];

const withFiles =
  (ids: readonly string[]): Change =>
  (media) => [...media, ...ids.filter((id) => media.every((old) => old.media_id !== id)).map((media_id) => ({ media_id, alt: null }))];

export function MediaField({ media, onChange }: { media: MediaUse[]; onChange: (change: Change) => void }) {
  const workspace_id = useWorkspaceId();
  const queries = useQueryClient();
  const [busy, setBusy] = useState<number | null>(null);
  const reset = useRef<() => void>(null);
  const files = useQueries({
    queries: media.map(({ media_id }) => ({
      queryKey: [workspace_id, "media", media_id],
      queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/media/{media_id}", { params: { path: { workspace_id, media_id } } })),
      staleTime: 600_000,
    })),
  });
  const add = async (chosen: File[]) => {
    const added: string[] = [];
    for (const file of chosen) {
      try {
        setBusy(0);
        const { id } = await upload(workspace_id, file, setBusy);
        added.push(id);
      } catch (error) {
        tellProblem(error, t("couldntAddName", { name: file.name }));
      }
    }
    setBusy(null);
    if (added.length > 0) onChange(withFiles([...new Set(added)]));
    await queries.invalidateQueries({ queryKey: [workspace_id, "library"] });
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    void add([...event.dataTransfer.files]);
  };
  return (
    <Stack gap="xs" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      {media.map((use, index) => (
        <Item
          key={use.media_id}
          use={use}
          file={files[index]?.data}
          first={index === 0}
          last={index === media.length - 1}
          onAlt={(alt) => onChange((now) => now.with(index, { ...use, alt: alt === "" ? null : alt }))}
          onMove={(by) => onChange((now) => now.toSpliced(index, 1).toSpliced(index + by, 0, use))}
          onRemove={() => onChange((now) => now.toSpliced(index, 1))}
        />
      ))}
      {busy !== null && <Progress value={busy} aria-label={t("uploading")} animated />}
      <Group gap="xs">
        <FileButton
          multiple
          accept="image/*,video/*"
          resetRef={reset}
          onChange={(chosen) => {
            void add(chosen);
            reset.current?.(); // else a file that was taken out cannot be chosen again
          }}
        >
          {(props) => (
            <Button {...props} size="compact-sm" variant="default" loading={busy !== null} leftSection={<IconPhotoPlus size={14} aria-hidden />}>
              {t("addImagesOrAVideo")}
            </Button>
          )}
        </FileButton>
        <Library onChoose={(id) => onChange(withFiles([id]))} />
      </Group>
    </Stack>
  );
}

function Item(props: {
  use: MediaUse;
  file: Media | undefined;
  first: boolean;
  last: boolean;
  onAlt: (alt: string) => void;
  onMove: (by: -1 | 1) => void;
  onRemove: () => void;
}) {
  const { file } = props;
  const workspaceId = useWorkspaceId();
  const name = file?.name ?? t("aFile");
  return (
    <Paper withBorder p="xs">
      <Group wrap="nowrap" align="flex-start">
        {file === undefined || (file.kind !== "video" && file.thumbnail_url === null) ? (
          <Text size="xs" w={88} c="dimmed">
            {file?.kind ?? "…"}
          </Text>
        ) : (
          <Thumbnail of={{ workspaceId, id: file.id, kind: file.kind }} alt="" w={88} h={88} />
        )}
        <div style={{ flex: 1, minWidth: 0 }}>
          <Textarea
            size="xs"
            label={t("descriptionOfName", { name })}
            placeholder={file?.alt === undefined || file.alt === "" ? t("describeTheImageAltText") : file.alt}
            autosize
            minRows={1}
            value={props.use.alt ?? ""}
            onChange={(event) => props.onAlt(event.currentTarget.value)}
          />
          <Text size="xs" c="dimmed">
            {file === undefined ? "" : sizeWords(file)}
            {file?.notes.map((note) => ` · ${note}`)}
          </Text>
        </div>
        <Group gap={2} wrap="nowrap">
          <ActionIcon variant="subtle" color="gray" disabled={props.first} aria-label={t("moveNameForward", { name })} onClick={() => props.onMove(-1)}>
            <IconArrowLeft size={16} />
          </ActionIcon>
          <ActionIcon variant="subtle" color="gray" disabled={props.last} aria-label={t("moveNameBack", { name })} onClick={() => props.onMove(1)}>
            <IconArrowRight size={16} />
          </ActionIcon>
          <ActionIcon variant="subtle" color="gray" aria-label={t("removeName", { name })} onClick={props.onRemove}>
            <IconX size={16} />
          </ActionIcon>
        </Group>
      </Group>
    </Paper>
  );
}

/** "1200 × 800, 0.4 MB" */
export function sizeWords(file: Pick<Media, "width" | "height" | "size" | "seconds">): string {
  const pixels = file.width === null || file.height === null ? [] : [`${file.width} × ${file.height}`];
  const time = file.seconds === null ? [] : [`${Math.round(file.seconds)} s`];
  const size = file.size < 100_000 ? `${Math.max(1, Math.round(file.size / 1000))} kB` : `${(file.size / 1e6).toFixed(1)} MB`;
  return [...pixels, ...time, size].join(", ");
}
