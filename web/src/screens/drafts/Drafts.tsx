// Drafts and approvals, and the rules that lay them out.
import { Tabs } from "@mantine/core";
import { useNavigate, useParams } from "react-router";

import { useWorkspaceId } from "../../api/me";
import { Page } from "../../ui/Page";
import { Categories } from "./Categories";
import { PostList } from "./PostList";
import { Rules } from "./Rules";

const parts = [
  { path: "posts", name: "Posts", Shown: PostList },
  { path: "rules", name: "Rules", Shown: Rules },
  { path: "categories", name: "Categories", Shown: Categories },
];

export default function Drafts() {
  const { "*": path } = useParams();
  const go = useNavigate();
  const workspaceId = useWorkspaceId();
  const chosen = parts.find((each) => each.path === path) ?? parts[0];
  return (
    <Page title="Drafts" says="Written by hand or laid out by rules: look, approve, send.">
      <Tabs value={chosen?.path ?? null} onChange={(next) => next !== null && void go(`/w/${workspaceId}/drafts/${next}`)} keepMounted={false}>
        <Tabs.List mb="md">
          {parts.map((each) => (
            <Tabs.Tab key={each.path} value={each.path}>
              {each.name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {parts.map(({ path: name, Shown }) => (
          <Tabs.Panel key={name} value={name}>
            <Shown />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}
