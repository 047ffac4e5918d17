import { TagsInput } from "@mantine/core";
import { t } from "../../messages/composer";

/** Hashtags, typed with or without their sign. */
export function HashtagsField(props: { label: string; description?: string; tags: string[]; onChange: (tags: string[]) => void }) {
  return (
    <TagsInput
      label={props.label}
      description={props.description}
      placeholder={props.tags.length === 0 ? t("withoutPressEnterAfterEach") : undefined}
      value={props.tags}
      onChange={(tags) => props.onChange(tags.map((each) => each.replace(/^#+/, "")).filter((each) => each !== ""))}
    />
  );
}
