// The pictures that rules take for a category, in the order in which they will be picked.
import { ActionIcon, Group, Text } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useQuery, type UseMutationResult } from "@tanstack/react-query";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMay, useWorkspaceId } from "../../api/me";
import { Thumbnail } from "../../ui/Thumbnail";
import { Library } from "../composer/Library";
import { t } from "../../messages/drafts";

const SHOWN = 12;

export function Pool({ categoryId }: { categoryId: string }) {
  const workspace_id = useWorkspaceId();
  const editor = useMay("editor");
  const params = { path: { workspace_id, category_id: categoryId } };
  const pool = useQuery({
    queryKey: [workspace_id, "pool", categoryId],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/categories/{category_id}/pool", { params })),
  });
  // One that comes back remembers how often it was used, so that a way back is a whole one.
  const fill: UseMutationResult<Schemas["PoolView"], Error, { ids: string[]; before: string[] }> = useAct("category", ({ ids: media_ids }: { ids: string[]; before: string[] }) => take(api.PUT("/api/v1/workspaces/{workspace_id}/categories/{category_id}/pool", { params, body: { media_ids } })), {
    done: ({ assets }) => t("imagesToChooseFrom", { assets: assets.length }),
    undo: (_, { ids: now, before }) => (before.length > now.length ? () => fill.mutate({ ids: before, before: now }) : undefined),
  });
  const ids = pool.data?.assets.map(({ media_id }) => media_id) ?? [];
  return (
    <Group gap="xs">
      {pool.data?.assets.slice(0, SHOWN).map((each) => (
        <div key={each.media_id} style={{ position: "relative" }}>
          <Thumbnail of={{ workspaceId: workspace_id, id: each.media_id }} alt={t("imageUsedTimes", { useCount: each.use_count })} w={64} h={64} />
          {editor && (
            <ActionIcon
              size="xs"
              variant="default"
              pos="absolute"
              top={2}
              right={2}
              aria-label={t("removeThisImage")}
              onClick={() => fill.mutate({ ids: ids.filter((id) => id !== each.media_id), before: ids })}
            >
              <IconX size={12} />
            </ActionIcon>
          )}
        </div>
      ))}
      <Text size="sm" c="dimmed">
        {ids.length === 0 ? t("noImagesToChooseFrom") : ids.length > SHOWN ? t("imagesInTotal", { ids: ids.length }) : ""}
      </Text>
      {editor && <Library onChoose={(id) => !ids.includes(id) && fill.mutate({ ids: [...ids, id], before: ids })} />}
    </Group>
  );
}
