// Drafts and approvals, and the rules that lay them out.
import { Page } from "../../ui/Page";
import { PathTabs } from "../../ui/PathTabs";
import { Categories } from "./Categories";
import { PostList } from "./PostList";
import { Rules } from "./Rules";
import { t } from "../../messages/drafts";

const parts = [
  { path: "posts", name: t("posts"), Shown: PostList },
  { path: "rules", name: t("rules"), Shown: Rules },
  { path: "categories", name: t("categories"), Shown: Categories },
];

export default function Drafts() {
  return (
    <Page title={t("drafts")} message={t("postsYouWroteOrRulesCreated")}>
      <PathTabs screen="drafts" parts={parts} />
    </Page>
  );
}
