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

export function Categories() {
  const editor = useMay("editor");
  const categories = useCategories();
  const [edited, setEdited] = useState<Category | "new" | null>(null);
  return (
    <Stack>
      {editor && (
        <Button w="fit-content" leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEdited("new")}>
          New category
        </Button>
      )}
      <Fetched query={categories}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon={IconCategory} title="No categories yet">
              A category holds what posts of one sort share: hashtags, a text that rules fill in, and pictures to take from.
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
      <Modal opened={edited !== null} onClose={() => setEdited(null)} size="lg" title={edited === "new" ? "A new category" : `Category ${edited?.name ?? ""}`}>
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
    { done: () => `${category.name} is gone. Its pictures stay in the library.` },
  );
  const askDelete = async () => {
    const says = "Its text and hashtags are lost; its pictures stay in the library. It is refused while a rule or a post uses it.";
    if (await askFirst({ title: `Delete ${category.name}?`, says, yes: "Delete", danger: true })) remove.mutate();
  };
  return (
    <Section
      title={category.name}
      says={parent === undefined ? undefined : `of ${parent}`}
      actions={
        editor && (
          <>
            <Button size="compact-sm" variant="default" onClick={onEdit} aria-label={`Edit ${category.name}`}>
              Edit
            </Button>
            <Button size="compact-sm" variant="subtle" color="red" onClick={() => void askDelete()} aria-label={`Delete ${category.name}`}>
              Delete
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
          {category.hashtags.length === 0 ? "No hashtags" : category.hashtags.map((each) => `#${each}`).join(" ")}
        </Text>
      </Group>
      <Pool categoryId={category.id} />
    </Section>
  );
}
