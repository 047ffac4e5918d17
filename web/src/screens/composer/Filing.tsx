// What stands beside the words: category with its hashtags, hashtags of its own, link, title, labels.
import { Select, TagsInput, Text, TextInput } from "@mantine/core";

import { Section } from "../../ui/Section";
import { useCategories, type Category } from "../drafts/useCategories";
import type { Content } from "./content";
import { HashtagsField } from "./HashtagsField";
import { t } from "../../messages/composer";

export function Filing({ content, onChange }: { content: Content; onChange: (content: Content) => void }) {
  return (
    <Section title={t("more")} message={<Text size="sm">{t("hashtagsArePublishedWithTheText")}</Text>}>
      <CategoryChoice value={content.category_id} onChange={(category_id) => onChange({ ...content, category_id })} />
      <HashtagsField label={t("hashtags")} tags={content.hashtags} onChange={(hashtags) => onChange({ ...content, hashtags })} />
      <TextInput
        label={t("link")}
        type="url"
        placeholder="https://"
        value={content.link}
        onChange={(event) => onChange({ ...content, link: event.currentTarget.value })}
      />
      <TextInput label={t("title")} value={content.title} maxLength={500} onChange={(event) => onChange({ ...content, title: event.currentTarget.value })} />
      <TagsInput label={t("labels")} placeholder={content.labels.length === 0 ? t("pressEnterAfterEach") : undefined} value={content.labels} onChange={(labels) => onChange({ ...content, labels })} />
    </Section>
  );
}

function CategoryChoice({ value, onChange }: { value: string | null; onChange: (id: string | null) => void }) {
  const { data: categories = [] } = useCategories();
  if (categories.length === 0 && value === null) return null;
  const tags = hashtagsOf(categories, value);
  return (
    <Select
      label={t("category")}
      placeholder={t("none")}
      description={value === null ? t("itsHashtagsAreAddedToThe") : tags.length === 0 ? t("itHasNoHashtags") : t("addsList", { list: tags.map((tag) => `#${tag}`).join(" ") })}
      searchable
      clearable
      data={categories.map((each) => ({ value: each.id, label: nameOf(categories, each) }))}
      value={value}
      onChange={onChange}
    />
  );
}

function nameOf(categories: readonly Category[], category: Category): string {
  const parent = categories.find(({ id }) => id === category.parent_id);
  return parent === undefined ? category.name : `${parent.name} · ${category.name}`;
}

/** The hashtags that a category brings: those of its brand, then its own. */
export function hashtagsOf(categories: readonly Pick<Category, "id" | "parent_id" | "hashtags">[], id: string | null): string[] {
  const own = categories.find((each) => each.id === id);
  const brand = categories.find((each) => each.id === own?.parent_id);
  return [...new Set([...(brand?.hashtags ?? []), ...(own?.hashtags ?? [])])];
}
