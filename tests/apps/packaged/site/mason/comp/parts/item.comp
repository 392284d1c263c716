<%args>
$label
</%args>
<li><% $label %></li>\
