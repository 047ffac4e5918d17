import { Button, Group, Select, Stack, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";

import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import type { Category } from "./useCategories";
import { t } from "../../messages/drafts";

export function CategoryEditor({ category, others, onClose }: { category: Category | null; others: Category[]; onClose: () => void }) {
  const workspace_id = useWorkspaceId();
  const form = useForm({
    initialValues: {
      name: category?.name ?? "",
      parent_id: category?.parent_id ?? null,
      hashtags: category?.hashtags ?? [],
      copy: category?.copy ?? "",
      variables: Object.entries(category?.variables ?? {}).map(([name, value]) => `${name} = ${value}`).join("\n"),
    },
  });
  const save = useAct(
    "category",
    (values: typeof form.values) => {
      const body = {
        ...values,
        hashtags: values.hashtags.map((each) => each.replace(/^#+/, "")),
        variables: readVariables(values.variables),
        revision: category?.revision ?? null,
      };
      return category === null
        ? take(api.POST("/api/v1/workspaces/{workspace_id}/categories", { params: { path: { workspace_id } }, body }))
        : take(api.PUT("/api/v1/workspaces/{workspace_id}/categories/{category_id}", { params: { path: { workspace_id, category_id: category.id } }, body }));
    },
    {
      done: ({ name }) => t("nameSaved", { name }),
      after: onClose,
      refused: (error) => {
        if (error instanceof Problem) form.setErrors(error.fields);
      },
    },
  );
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        <TextInput label={t("name")} required data-autofocus {...form.getInputProps("name")} />
        <Select
          label={t("partOf")}
          placeholder={t("noneTopLevel")}
          clearable
          data={others.filter(({ id, parent_id }) => id !== category?.id && parent_id === null).map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps("parent_id")}
        />
        <Textarea
          label={t("textForRules")}
          description={t("useWeekdayMonthBrandAndYour")}
          autosize
          minRows={3}
          maxRows={12}
          {...form.getInputProps("copy")}
        />
        <Textarea label={t("yourOwnPlaceholders")} description={t("onePerLineNameText")} autosize minRows={1} maxRows={8} {...form.getInputProps("variables")} />
        <TagsInput label={t("hashtags")} placeholder={t("withoutPressEnterAfterEach")} {...form.getInputProps("hashtags")} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t("cancel")}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {t("saveCategory")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Read "name = value" lines; lines without a name are left out. */
export function readVariables(text: string): Record<string, string> {
  const pairs = text.split("\n").map((line) => line.split("="));
  return Object.fromEntries(pairs.filter(([name]) => name?.trim() !== "").map(([name, ...value]) => [name?.trim() ?? "", value.join("=").trim()]));
}
