// One message to many: the list, the steps to a new one, and the page of one while it is sent.
import { useParams } from "react-router";

import { CampaignList } from "./CampaignList";
import { CampaignPage } from "./CampaignPage";
import { NewCampaign } from "./Wizard";

export default function Campaigns() {
  const { "*": path = "" } = useParams();
  if (path === "") return <CampaignList />;
  if (path === "new") return <NewCampaign />;
  return <CampaignPage key={path} id={path} />;
}
