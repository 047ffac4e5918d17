import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { IconCategory, IconPlus } from "@tabler/icons-react";
import { useState } from "react";

import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useMay, useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { Empty } from "../../ui/Empty";
import { Fetched } from "../../ui/Fetched";
import { Section } from "../../ui/Section";
import { CategoryEditor } from "./CategoryEditor";
import { Pool } from "./Pool";
import { useCategories, type Category } from "./useCategories";
import { t } from "../../messages/drafts";

export function Categories() {
  const editor = useMay("editor");
  const categories = useCategories();
  const [edited, setEdited] = useState<Category | "new" | null>(null);
  return (
    <Stack>
      {editor && (
        <Button w="fit-content" leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEdited("new")}>
          {t("newCategory")}
        </Button>
      )}
      <Fetched query={categories}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon={IconCategory} title={t("noCategoriesYet")}>
              {t("aCategoryHoldsWhatSimilarPosts")}
            </Empty>
          ) : (
            <Stack>
              {rows.map((each) => (
                <CategoryCard key={each.id} category={each} parent={rows.find(({ id }) => id === each.parent_id)?.name} onEdit={() => setEdited(each)} />
              ))}
            </Stack>
          )
        }
      </Fetched>
      <Modal opened={edited !== null} onClose={() => setEdited(null)} size="lg" title={edited === "new" ? t("newCategory") : t("categoryName", { name: edited?.name ?? "" })}>
        {edited !== null && <CategoryEditor category={edited === "new" ? null : edited} others={categories.data ?? []} onClose={() => setEdited(null)} />}
      </Modal>
    </Stack>
  );
}

function CategoryCard({ category, parent, onEdit }: { category: Category; parent: string | undefined; onEdit: () => void }) {
  const workspace_id = useWorkspaceId();
  const editor = useMay("editor");
  const remove = useAct(
    "category",
    () => take(api.DELETE("/api/v1/workspaces/{workspace_id}/categories/{category_id}", { params: { path: { workspace_id, category_id: category.id } } })),
    { done: () => t("nameIsDeletedItsImagesStay", { name: category.name }) },
  );
  const askDelete = async () => {
    const message = t("itsTextAndHashtagsAreDeleted");
    if (await askFirst({ title: t("deleteNameQuestion", { name: category.name }), message, yes: t("delete"), danger: true })) remove.mutate();
  };
  return (
    <Section
      title={category.name}
      message={parent === undefined ? undefined : t("ofParent", { parent })}
      actions={
        editor && (
          <>
            <Button size="compact-sm" variant="default" onClick={onEdit} aria-label={t("editName", { name: category.name })}>
              {t("edit")}
            </Button>
            <Button size="compact-sm" variant="subtle" color="red" onClick={() => void askDelete()} aria-label={t("deleteName", { name: category.name })}>
              {t("delete")}
            </Button>
          </>
        )
      }
    >
      {category.copy !== "" && (
        <Text size="sm" style={{ whiteSpace: "pre-wrap" }} lineClamp={4}>
          {category.copy}
        </Text>
      )}
      <Group gap="xs">
        <Text size="sm" c="dimmed">
          {category.hashtags.length === 0 ? t("noHashtags") : category.hashtags.map((each) => `#${each}`).join(" ")}
        </Text>
      </Group>
      <Pool categoryId={category.id} />
    </Section>
  );
}
