// Drafts and approvals, and the rules that lay them out.
import { Page } from "../../ui/Page";
import { PathTabs } from "../../ui/PathTabs";
import { Categories } from "./Categories";
import { PostList } from "./PostList";
import { Rules } from "./Rules";

const parts = [
  { path: "posts", name: "Posts", Shown: PostList },
  { path: "rules", name: "Rules", Shown: Rules },
  { path: "categories", name: "Categories", Shown: Categories },
];

export default function Drafts() {
  return (
    <Page title="Drafts" says="Written by hand or laid out by rules: look, approve, send.">
      <PathTabs screen="drafts" parts={parts} />
    </Page>
  );
}
