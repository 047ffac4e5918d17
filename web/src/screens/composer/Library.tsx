import { Button, Modal, SimpleGrid, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";

import { api, take } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Fetched } from "../../ui/Fetched";
import { Thumbnail } from "../../ui/Thumbnail";
import { t } from "../../messages/composer";

/** Choose a file that was uploaded before. */
export function Library({ onChoose }: { onChoose: (id: string) => void }) {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={open}>
        {t("fromLibrary")}
      </Button>
      <Modal opened={opened} onClose={close} title={t("library")} size="lg">
        {opened && (
          <Files
            onChoose={(id) => {
              onChoose(id);
              close();
            }}
          />
        )}
      </Modal>
    </>
  );
}

function Files({ onChoose }: { onChoose: (id: string) => void }) {
  const workspace_id = useWorkspaceId();
  const files = useQuery({
    queryKey: [workspace_id, "library"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/media", { params: { path: { workspace_id }, query: { limit: 100 } } })),
  });
  return (
    <Fetched query={files}>
      {({ items }) =>
        items.length === 0 ? (
          <Text c="dimmed">{t("nothingUploadedYet")}</Text>
        ) : (
          <SimpleGrid cols={{ base: 2, xs: 3, sm: 4 }}>
            {items.map((each) => (
              <UnstyledButton key={each.id} onClick={() => onChoose(each.id)} aria-label={t("useName", { name: each.name })}>
                {each.kind !== "video" && each.thumbnail_url === null ? (
                  <Text size="sm">{each.kind}</Text>
                ) : (
                  <Thumbnail of={{ workspaceId: workspace_id, id: each.id, kind: each.kind }} alt={each.alt} h={110} />
                )}
                <Text size="xs" truncate>
                  {each.name}
                </Text>
              </UnstyledButton>
            ))}
          </SimpleGrid>
        )
      }
    </Fetched>
  );
}
