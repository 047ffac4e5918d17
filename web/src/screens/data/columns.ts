// What our columns are called for people, and what stands in them.
import { t } from "../../messages/data";

export const columnWords: Record<string, { name: string; message: string }> = {
  text: { name: t("text"), message: t("thePostsText") },
  accounts: { name: t("accounts"), message: t("handlesSeparatedBy") },
  when: { name: t("when"), message: t("whenExamples") },
  date: { name: t("date"), message: t("needsATimeColumnToo") },
  time: { name: t("time"), message: t("needsADateColumnToo") },
  zone: { name: t("timeZone"), message: t("forExampleEuropeBerlin") },
  title: { name: t("title"), message: t("helpsYouFindThePostHere") },
  link: { name: t("link"), message: "https://…" },
  hashtags: { name: t("hashtags"), message: t("separatedBySpacesOr") },
  first_comment: { name: t("firstComment"), message: t("addedBelowThePost") },
  labels: { name: t("labels"), message: t("separatedBy") },
  media: { name: t("imagesAndVideos"), message: t("fileNamesInTheLibrary") },
  key: { name: t("key"), message: t("aUniqueNameForTheRow") },
};

export const columnName = (column: string): string => columnWords[column]?.name ?? column;
