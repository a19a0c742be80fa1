"""Japanese. Words that Blender translates itself are written as Blender writes them: its own entry comes first.

整定時間 settle time, 減衰比 damping ratio, エイムボーン the aiming bone, 配分 share,
接続先 the destination of a transition, ポップ a leap of the animation from one frame to the next.
"""
# ruff: noqa: RUF001 - Japanese punctuation

INTERFACE = {
    # The live look-at
    "Not solved": "未計算",
    "Stop": "中止",
    "Stop solving instead": "計算する代わりに停止します",
    "Stop solving; the rigs keep the offsets they have": "計算を停止します。リグは現在のオフセットのままになります",
    "Solve the live look-ats of this scene again": "このシーンのライブルックアットをもう一度計算します",
    "Number": "番号",
    "Lock Interface while Rendering": "レンダリング中はインターフェイスをロック",
    # The whole body
    "Whole Body": "全身",
    "Let hips, arms, feet and eyes answer too, as far as the rig has them": (
        "腰、腕、足、目も、リグにある限り一緒に動かします"
    ),
    "Amount": "量",
    "Back": "後",
    "Hips": "腰",
    "To the Side": "横へ",
    "Weight Shift": "重心移動",
    "Move the hips against the turn of the head, which is heavy": ("重い頭の回転とは反対の方向へ腰を動かします"),
    "How far the hips go, as a factor of the ways below": "腰が動く距離（下の距離に対する倍率）",
    "How far to the side the hips go against a head turned by 90°, in percent of the length of the legs": (
        "頭が90°回ったときに腰が横へ動く距離（脚の長さに対するパーセント）"
    ),
    "How far back the hips go under a head turned by 90°, in percent of the length of the legs": (
        "頭が90°回ったときに腰が後ろへ動く距離（脚の長さに対するパーセント）"
    ),
    "Settle time of the weight shift relative to the look-at's": "ルックアットの整定時間に対する重心移動の比率",
    "Arm Recoil": "腕の反動",
    "Let the arms lag behind the rib cage and swing out": "腕を胸郭より遅らせて、揺れながら落ち着かせます",
    "How much of the arms' lag shows": "腕の遅れをどれだけ見せるか",
    "Settle time of the arms relative to the look-at's": "ルックアットの整定時間に対する腕の比率",
    "Below 1 the arms swing out before they hang still again": "1未満では、腕は揺れてから静止します",
    "Planted Feet": "足の固定",
    "Keep the feet where the animation has them while the hips move": (
        "腰が動いている間、足をアニメーションの位置に保ちます"
    ),
    "Torso From": "胴が加わる角度",
    "The torso takes part in turns larger than this; smaller ones are the head's and the eyes'": (
        "これより大きな回転には胴も加わります。小さな回転は頭と目だけで行います"
    ),
    "Bone that moves the hips with all that is above them; empty: found from the rig": (
        "腰とその上の体全体を動かすボーン。空欄ならリグから検出します"
    ),
    "Rotation Mode": "回転モード",
    # Eyes
    "Eyes": "目",
    "Let the eyes look first, and hold the target while the head comes after": (
        "先に目で見て、頭が追いつくまでターゲットを見続けます"
    ),
    "Left Eye": "左目",
    "Right Eye": "右目",
    "Bone of the left eye, or of the only one; empty: found from the rig": (
        "左目、または1つしかない目のボーン。空欄ならリグから検出します"
    ),
    "Bone of the right eye; empty: found from the rig": "右目のボーン。空欄ならリグから検出します",
    "Head Mover": "頭の関与",
    "1: the head turns all the way, the eyes only lead. 0: the head turns only where the eyes cannot reach": (
        "1では頭が最後まで向き、目は先に動くだけです。0では目が届かない分だけ頭が向きます"
    ),
    "Head Delay": "頭の遅れ",
    "Seconds by which the head sets out after the eyes": "目が動いてから頭が動き出すまでの秒数",
    "How far the eyes turn to either side": "目が左右に向く角度",
    "How far the eyes turn upward": "目が上に向く角度",
    "How far the eyes turn downward": "目が下に向く角度",
    "Vergence": "輻輳",
    "How much the eyes turn towards each other for a near target": "近いターゲットに対して両目が寄る度合い",
    "Vergence Limit": "最大輻輳",
    "Largest angle between the two lines of sight": "両目の視線がなす角度の最大値",
    "Blink": "まばたき",
    "Blink From": "まばたきする角度",
    "Close the lids during large shifts of the gaze": "視線が大きく動くときにまぶたを閉じます",
    "Shifts of the gaze larger than this come with a blink": "これより大きな視線の移動ではまばたきします",
    "Lid Angle": "まぶたの角度",
    "How far the bones of the upper lids turn to close the eyes": "目を閉じるために上まぶたのボーンが回る角度",
    "Shape Key": "シェイプキー",
    "Shape key that closes the lids; empty: found from the meshes, where lid bones are not": (
        "まぶたを閉じるシェイプキー。空欄で、まぶたのボーンもないときは、メッシュから検出します"
    ),
    "Microsaccades": "微小サッカード",
    "Size of the small quick movements of eyes that hold still; 0 for none": (
        "止まっている目の、小さく素早い動きの大きさ。0ではなし"
    ),
    "Idle Drift": "視線の揺らぎ",
    "How far the gaze wanders about its target, by chance; 0 for not at all": (
        "視線がターゲットのまわりを偶然にさまよう大きさ。0ではなし"
    ),
    "Another number gives another drift and other microsaccades": (
        "数値を変えると、揺らぎと微小サッカードが変わります"
    ),
    # Look-at
    "Look-at": "ルックアット",
    "Look-at PD": "ルックアットPD",
    "Add a look-at to the head": "頭にルックアットを追加",
    "This bone has a look-at": "このボーンにはルックアットがあります",
    "Mute": "ミュート",
    "Leave this look-at out. A baked look-at is muted, since its motion is in the keys": (
        "このルックアットを無効にします。ベイク後は動きがキーに入っているため、自動的にミュートされます"
    ),
    "Target": "ターゲット",
    "Object to look at; for an armature, choose a bone as well": (
        "見る対象のオブジェクト。アーマチュアの場合はボーンも選択します"
    ),
    "Bone": "ボーン",
    "Bone of the target armature to look at": "ターゲットのアーマチュアのうち、見る対象のボーン",
    "Look": "ルック",
    "Look at the target; key it to turn to the target and back to the animation": (
        "ターゲットを見ます。キーを打つと、ターゲットへ向く動きと元のアニメーションへ戻る動きを作れます"
    ),
    "Influence": "影響",
    "How much of the look-at is added to the animation": "アニメーションに加えるルックアットの量",
    "Settle Time": "整定時間",
    "Settle Time (s)": "整定時間（秒）",
    "Seconds until the head has arrived. The bones below it take longer": (
        "頭がターゲットを向き終えるまでの秒数。その下のボーンはさらに時間がかかります"
    ),
    "Damping": "減衰",
    "How the motion ends": "動きの止まり方",
    "Critical": "臨界減衰",
    "Arrive without overshoot, as fast as that allows": "オーバーシュートしない範囲で最も速く到達します",
    "Responsive": "応答重視",
    "Arrive sooner, with a slight overshoot": "わずかにオーバーシュートして、より早く到達します",
    "Custom": "カスタム",
    "Set the damping ratio yourself": "減衰比を自分で設定します",
    "Damping Ratio": "減衰比",
    "1 arrives without overshoot, less swings over, more creeps in": (
        "1でオーバーシュートなし。小さいと行き過ぎて揺れ、大きいとゆっくり近づきます"
    ),
    "Overshoot {:.0f} %": "オーバーシュート {:.0f} %",
    # Chain
    "Chain": "チェーン",
    "Bones that turn, the head first": "回転するボーン。先頭は頭です",
    "Bone that takes part in the turn": "回転に加わるボーン",
    "Highlighted Bone": "選択中のボーン",
    "Share": "配分",
    "How much of the turn this bone takes, relative to the shares of the others": (
        "このボーンが受け持つ回転の割合（他のボーンの配分に対する比）"
    ),
    "Settle": "整定",
    "Settle Factor": "整定係数",
    "This bone's settle time relative to the look-at's; larger down the spine, so that the head leads": (
        "ルックアットの整定時間に対するこのボーンの比率。背骨の下ほど大きくすると、頭が先行します"
    ),
    "Make Up": "不足を補う",
    "Makes Up for Slower Bones": "遅いボーンの不足を補う",
    "Make up for what the slower bones below have not yet turned (the head always does)": (
        "下の遅いボーンがまだ回転していない分を補います（頭は常に補います）"
    ),
    "Find the chain from the rig again, with fitting shares, settle factors and limits": (
        "リグからチェーンを再検出し、適切な配分、整定係数、リミットを設定します"
    ),
    "Add the active bone to the end of the chain": "アクティブボーンをチェーンの末尾に追加します",
    "Take the highlighted bone out of the chain": "リストで選択中のボーンをチェーンから外します",
    "Move the highlighted bone towards the head or away from it": (
        "リストで選択中のボーンを頭の方向、またはその反対方向に移動します"
    ),
    "Direction": "方向",
    "Up": "上",
    "Towards the head": "頭に近づける",
    "Down": "下",
    "Away from the head": "頭から遠ざける",
    # Limits
    "Limits": "リミット",
    "Sideways": "左右",
    "Yaw Limit": "左右リミット",
    "Largest turn to either side that is added to the animation": "アニメーションに加える左右方向の最大回転角",
    "Up Limit": "上リミット",
    "Largest turn upward that is added to the animation": "アニメーションに加える上方向の最大回転角",
    "Down Limit": "下リミット",
    "Largest turn downward that is added to the animation": "アニメーションに加える下方向の最大回転角",
    "Soft Edge": "境界の柔らかさ",
    "How gently the limits set in": "リミットがどれだけ緩やかに効き始めるか",
    # Release
    "Release": "リリース",
    "Angle": "角度",
    "Switched off, the look-at lets go once every bone is nearer to the animation than this": (
        "ルックアットをオフにしたあと、全ボーンとアニメーションとの差がこの角度より小さくなると解放します"
    ),
    "Speed": "速度",
    "Switched off, the look-at lets go once every bone is slower than this per second": (
        "ルックアットをオフにしたあと、全ボーンの毎秒の速度がこの値より小さくなると解放します"
    ),
    "Time": "時間",
    "Time (s)": "時間（秒）",
    "Seconds in which the remainder fades to exactly the animation": (
        "残った差が消え、元のアニメーションに完全に戻るまでの秒数"
    ),
    # Advanced
    "Advanced": "詳細設定",
    "Aim Axis": "エイム軸",
    "Axis of the bone that points at the target": "ターゲットの方を向くボーンの軸",
    "Automatic": "自動",
    "Where the character faces in rest pose": "レストポーズでキャラクターが向いている方向",
    "The bone's X axis": "ボーンのX軸",
    "The bone's Y axis, along the bone": "ボーンのY軸（ボーンの長さ方向）",
    "The bone's Z axis": "ボーンのZ軸",
    "Against the bone's X axis": "ボーンのX軸の逆方向",
    "Against the bone's Y axis": "ボーンのY軸の逆方向",
    "Against the bone's Z axis": "ボーンのZ軸の逆方向",
    "Speed Limit": "速度制限",
    "Largest angular speed of each bone per second; 0 for none. Low values look like a robot": (
        "各ボーンの毎秒の最大角速度。0で制限なし。低い値ではロボットのような動きになります"
    ),
    "Anticipation": "先読み",
    "How much of a moving target's lag is taken away: 0 trails behind it, 1 keeps up": (
        "動くターゲットへの遅れをどれだけ取り除くか。0では遅れて追い、1では遅れずに追います"
    ),
    "Method": "方式",
    "What the controller follows": "コントローラーが追従する量",
    "Geodesic": "ジオデシック",
    "Rotation vectors: the offset comes and goes along the shortest arc": (
        "回転ベクトル。オフセットは最短の弧に沿って増減します"
    ),
    "Component": "成分",
    "The four quaternion components, normalized, as in FINAL FANTASY XVI": (
        "クォータニオンの4成分を個別に追従し正規化します（FINAL FANTASY XVIの方式）"
    ),
    "Integrator": "積分方法",
    "How the controller is stepped": "コントローラーを時間方向に進める方法",
    "Exact": "正確",
    "Closed form: the same motion at every frame rate": "解析解。どのフレームレートでも同じ動きになります",
    "Stable PD": "安定PD",
    "As game engines do it, stepped once a frame": "ゲームエンジンと同様に、フレームごとに1ステップ進めます",
    "Euler": "オイラー",
    "The plain form, stepped once a frame and divided where it would be unstable": (
        "基本形。フレームごとに1ステップ進め、不安定になる場合はステップを分割します"
    ),
    # Add, remove, key
    "Make the head, and the neck and spine below it, look at a target": (
        "頭と、その下の首と背骨をターゲットの方に向けます"
    ),
    "Bone that aims; empty for the active bone, or the head that is found": (
        "ターゲットに向けるボーン。空欄の場合はアクティブボーン、または検出された頭"
    ),
    "Object to look at; empty for the other selected object, or a new empty": (
        "見る対象のオブジェクト。空欄の場合は選択中の他のオブジェクト、または新規エンプティ"
    ),
    "New Target": "新規ターゲット",
    "Where nothing else is selected, add an empty in front of the face to look at": (
        "他に何も選択されていない場合、見る対象として顔の前にエンプティを追加します"
    ),
    "Remove the look-at with its settings and their keys; what was baked stays": (
        "ルックアットを設定とそのキーごと削除します。ベイクした結果は残ります"
    ),
    "Bone whose look-at goes; empty for the one shown": "ルックアットを削除するボーン。空欄の場合は表示中のもの",
    "Insert a key for this setting at the current frame, or delete the one that is there": (
        "現在のフレームにこの設定のキーを挿入します。既にある場合は削除します"
    ),
    "Setting": "設定",
    "Whether to look at the target": "ターゲットを見るかどうか",
    "How much to look at it": "ターゲットを見る度合い",
    # Presets
    "Look-at Presets": "ルックアットプリセット",
    "Give the look-at the settings of this preset; target, chain and keys stay": (
        "このプリセットの設定をルックアットに適用します。ターゲット、チェーン、キーは変更しません"
    ),
    "File": "ファイル",
    "Preset to apply": "適用するプリセット",
    "Save how the look-at moves as a preset, or remove a preset": (
        "ルックアットの動き方をプリセットとして保存、またはプリセットを削除します"
    ),
    "Attentive": "注意深い",
    "Quick and eager, with a slight overshoot": "素早く意欲的で、わずかに行き過ぎます",
    "Bird": "鳥",
    "Snaps from one thing to the next": "次々と、パッと向きを変えます",
    "FFXVI": "FFXVI方式",
    "As published: Stable PD on quaternion components, stepped once a frame": (
        "発表された方式のとおり、クォータニオンの成分に安定PDをかけ、フレームごとに1ステップ進めます"
    ),
    "Heavy creature": "重い生き物",
    "A large head that is slow to start and slow to stop": "動き出しも止まるのも遅い、大きな頭",
    "Relaxed": "ゆったり",
    "Unhurried, comes to rest softly": "急がず、柔らかく止まります",
    "Robot": "ロボット",
    "Turns at a steady speed": "一定の速度で回ります",
    # Copy and mirror
    "Give the other selected bones look-ats with the settings of the one shown, each with its own chain": (
        "選択中の他のボーンに、表示中のものと同じ設定のルックアットを、それぞれのチェーンで追加します"
    ),
    "Copy Target": "ターゲットをコピー",
    "Let them look at the same target; else they keep theirs": (
        "同じターゲットを見ます。オフの場合は各自のターゲットのままです"
    ),
    "Give the bone on the other side the same look-at; its chain and its target change sides too": (
        "反対側のボーンに同じルックアットを追加します。チェーンとターゲットも左右が入れ替わります"
    ),
    # Viewport
    "Display": "表示",
    "Viewport Display": "ビューポート表示",
    "Draw look-ats in the viewport": "ルックアットをビューポートに描画します",
    "Line of Sight": "視線",
    "Where the head looks, and, dashed, where its target is": "頭が向いている方向と、ターゲットの方向（破線）",
    "Target Marker": "ターゲットマーカー",
    "A ring around what is looked at": "見る対象を囲む輪",
    "Reach": "到達範囲",
    "How far all bones of the chain together can turn the look, around where the animation looks": (
        "チェーンの全ボーンで視線を回せる範囲。元のアニメーションの視線を中心に示します"
    ),
    "Offsets": "オフセット",
    "How much the look-at turns each selected bone of the chain, in degrees": (
        "チェーンの選択ボーンにルックアットが加える回転（度）"
    ),
    # Follow
    "Let the character follow the mouse, or its target, in real time. Enter keeps the pose, Esc restores it": (
        "キャラクターがマウスまたはターゲットをリアルタイムで追います。Enterでポーズを残し、Escで元に戻します"
    ),
    "Mouse": "マウス",
    "The mouse leads the look over the viewport. Otherwise drag the target itself": (
        "ビューポート上でマウスが視線を導きます。オフの場合はターゲット自体をドラッグします"
    ),
    "Record": "記録",
    "Key the motion, from the current frame on, instead of the pose alone": (
        "ポーズだけでなく、現在のフレームからの動きにキーを打ちます"
    ),
    "Where the keys of a recording go; the keys of all other bones stay as they are": (
        "記録のキーの書き込み先。他のボーンのキーは変更されません"
    ),
    "A copy of the current action with the recording in it; the original is kept": (
        "現在のアクションに記録を加えたコピー。元のアクションは残ります"
    ),
    "A new NLA track above the animation that holds only the recording": (
        "アニメーションの上に重ねる、記録だけの新しいNLAトラック"
    ),
    "Follow {:.1f} s": "追従 {:.1f} 秒",
    "Aim {:.1f}°": "エイム誤差 {:.1f}°",
    "Recording {:d} frames": "記録中 {:d} フレーム",
    "Stop Recording": "記録を中止",
    "Key the Recording": "記録にキーを打つ",
    "Keep Pose": "ポーズを残す",
    "Lead the Eyes": "視線を導く",
    "Nearer or Farther": "手前／奥へ",
    "Drag the Target Instead": "ターゲットのドラッグに切り替え",
    "Lead by Mouse Instead": "マウスに切り替え",
    "Restore": "元に戻す",
    # Bake
    "Turn the look-at into keys on the bones of its chain": "ルックアットをチェーンの各ボーンのキーに変換します",
    "Into": "書き込み先",
    "Where the keys go; the keys of all other bones stay as they are": (
        "キーの書き込み先。他のボーンのキーは変更されません"
    ),
    "New Action": "新規アクション",
    "A copy of the current action with the look-at in it; the original is kept": (
        "現在のアクションにルックアットを加えたコピー。元のアクションは残ります"
    ),
    "Current Action": "現在のアクション",
    "Replace the keys of the chain's bones in the current action": (
        "現在のアクション内の、チェーンのボーンのキーを置き換えます"
    ),
    "NLA Layer": "NLAレイヤー",
    "A new NLA track above the animation that holds only the look-at": (
        "アニメーションの上に重ねる、ルックアットだけの新しいNLAトラック"
    ),
    "Which": "対象",
    "Which look-ats to bake": "ベイクするルックアット",
    "All on Armature": "アーマチュアのすべて",
    "Every look-at of the active armature that is not muted": (
        "アクティブなアーマチュアの、ミュートされていないすべてのルックアット"
    ),
    "Shown": "表示中のもの",
    "Only the look-at shown in the panel": "パネルに表示中のルックアットのみ",
    "Scene Range": "シーンの範囲",
    "Bake the scene's frame range, or its preview range where that is on": (
        "シーンのフレーム範囲をベイクします。プレビュー範囲が有効な場合はそちらを使います"
    ),
    "Start": "開始",
    "First frame to bake": "ベイクする最初のフレーム",
    "End": "終了",
    "Last frame to bake": "ベイクする最後のフレーム",
    # Transitions
    "Look-at PD Transition": "ルックアットPDトランジション",
    "Join two actions into a new one: the source until the cut, then the destination, and no pop between": (
        "2つのアクションをつないで新しいアクションを作ります。カットまではソース、その後は接続先で、間にポップは出ません"
    ),
    "Source": "ソース",
    "Action that plays first; empty for the current one": "先に再生するアクション。空欄の場合は現在のアクション",
    "Destination": "接続先",
    "Action that plays first; empty for the one in the settings": (
        "先に再生するアクション。空欄の場合は設定のアクション"
    ),
    "Action that goes on": "続いて再生するアクション",
    "Action that goes on; empty for the one in the settings": "続いて再生するアクション。空欄の場合は設定のアクション",
    "Action that goes on after the cut": "カットの後に続くアクション",
    "Cut at Frame": "カットするフレーム",
    "Source Frame": "ソースのフレーム",
    "First frame that no longer shows the source": "ソースが表示されなくなる最初のフレーム",
    "First frame that no longer shows the source; not set: the current frame": (
        "ソースが表示されなくなる最初のフレーム。未設定の場合は現在のフレーム"
    ),
    "Enter at Frame": "入りのフレーム",
    "Destination Frame": "接続先のフレーム",
    "Frame of the destination shown then": "そのときに表示する接続先のフレーム",
    "Frame of the destination that comes there; not set: its first": (
        "カットの位置に来る接続先のフレーム。未設定の場合は最初のフレーム"
    ),
    "Automatic Blend": "自動ブレンド",
    "As long as suits how far apart poses and speeds are": "ポーズと速度の差に応じた長さにします",
    "Blend": "ブレンド",
    "Seconds until the destination plays alone": "接続先だけが再生されるようになるまでの秒数",
    "Root": "ルート",
    "How the destination is placed": "接続先の配置方法",
    "None": "なし",
    "Play the destination where it was made": "接続先を元の位置のまま再生します",
    "Position": "位置",
    "Move the destination over the ground to where the source's root is": (
        "接続先を、地面に沿ってソースのルートの位置まで移動します"
    ),
    "Position and Heading": "位置と向き",
    "Move the destination over the ground and turn it to go on the same way": (
        "接続先を地面に沿って移動し、同じ方向へ進み続けるように回転します"
    ),
    "Position, Height and Heading": "位置、高さ、向き",
    "As Position and Heading, and at the same height": "「位置と向き」に加えて、高さも合わせます",
    "How the difference is blended": "差をブレンドする方法",
    "Inertialization": "慣性化",
    "Only the destination plays; what was different dies away": "接続先だけを再生し、ソースとの差を減衰させます",
    "Dead Blending": "デッドブレンディング",
    "The source's motion runs out and is faded; calmer where poses are far apart": (
        "ソースの動きをそのまま延長してフェードします。ポーズの差が大きい場合に動きが落ち着きます"
    ),
    "Cross-Fade": "クロスフェード",
    "Both clips play and are mixed": "両方のクリップを再生して混ぜ合わせます",
    "Cut": "カット",
    "No blending": "ブレンドしません",
    "Use Result": "結果を使用",
    "Let the armature play the new action; the one it plays is kept": (
        "アーマチュアに新しいアクションを割り当てます。現在のアクションは残ります"
    ),
    "Cost": "コスト",
    "How different the two clips are there; 0 is alike": "その位置での2つのクリップの違い。0で同一です",
    "Unkeyed": "キーなし",
    "Unkeyed Pose": "キーなしのポーズ",
    "Found Cuts": "見つかったカット",
    "Cuts to Find": "探すカットの数",
    "Places to cut, the best first": "カットの候補（良い順）",
    "Highlighted Cut": "選択中のカット",
    "Compare all frames of two actions and set the cut where pose, speed and foot contacts differ least": (
        "2つのアクションの全フレームを比較し、ポーズ、速度、足の接地の差が最も小さい位置をカットに設定します"
    ),
    "How many places to find": "検出する位置の数",
    "Picture": "画像",
    "Paint all differences into the image 'Look-at PD Cuts'": "すべての差を画像「Look-at PD Cuts」に描き込みます",
    "Add a strip that carries the first of two selected strips into the second without a pop": (
        "選択した2つのストリップの、1つめから2つめへポップなしで移るストリップを追加します"
    ),
    "Seconds until the second strip plays alone": "2つめのストリップだけが再生されるようになるまでの秒数",
    'Join actions into one: each plays from the timeline marker that is called like it ("Walk", "Walk @ 12")': (
        "複数のアクションを1つにつなぎます。"
        "各アクションは同名のタイムラインマーカー（「Walk」「Walk @ 12」など）から再生されます"
    ),
    "As long as suits the two poses": "2つのポーズに応じた長さにします",
    "Seconds until each clip plays alone": "各クリップだけが再生されるようになるまでの秒数",
    "How each clip is placed": "各クリップの配置方法",
    "Transitions": "トランジション",
    "Blend (s)": "ブレンド（秒）",
    "Set blend time and method of the next transition": "次のトランジションのブレンド時間と方式を設定します",
    "Preset": "プリセット",
    "Snappy": "キビキビ",
    "Over at once, for games": "すぐに終わる、ゲーム向けの設定",
    "Natural": "ナチュラル",
    "Heavy": "重量感",
    "A large body that runs on": "勢いで動き続ける大きな体",
    "Head": "ヘッド",
    "Torso": "胴体",
    "Arms": "腕",
    "Legs": "脚",
    "All": "すべて",
    # Smooth a pop
    "Make the animation run smoothly into this frame: the leap from the frame before dies away, nothing else moves": (
        "このフレームへ滑らかにつながるようにします。直前のフレームからのポップを減衰させ、他の動きは変えません"
    ),
    "Where": "対象箇所",
    "Frame": "フレーム",
    "Smooth the leap into one frame": "1つのフレームへのポップを滑らかにします",
    "Found": "検出箇所",
    "Find all leaps in the scene's frame range and smooth each": (
        "シーンのフレーム範囲からポップをすべて検出し、それぞれを滑らかにします"
    ),
    "First frame after the pop; not set: the current one": "ポップ直後の最初のフレーム。未設定の場合は現在のフレーム",
    "As long as suits the leap": "ポップの大きさに応じた長さにします",
    "Seconds in which the leap dies away": "ポップが減衰して消えるまでの秒数",
    "Selected Bones Only": "選択ボーンのみ",
    "Leave other bones as they are": "他のボーンは変更しません",
    "Change the keys of the current action": "現在のアクションのキーを変更します",
    "Change a copy; the original is kept": "コピーを変更します。元のアクションは残ります",
    # Loop
    "Make a cyclic copy of an action: its end runs into its start without a pop": (
        "アクションのループするコピーを作ります。終わりから始めへポップなしでつながります"
    ),
    "Action": "アクション",
    "Action to loop; empty for the current one": "ループさせるアクション。空欄の場合は現在のアクション",
    "Frame Range": "フレーム範囲",
    "Loop only some of the action's frames": "アクションの一部のフレームだけをループさせます",
    "First frame of the loop": "ループの最初のフレーム",
    "Last frame of the loop, which shows the pose of the first": (
        "ループの最後のフレーム。最初のフレームと同じポーズになります"
    ),
    "As long as suits the difference": "差に応じた長さにします",
    "Seconds in which each end gives way to the other": "両端が互いに移り変わる秒数",
    "In Place": "その場",
    "Take the root's travel over the ground out": "地面に沿ったルートの移動を取り除きます",
    "Cycles Modifiers": "ループモディファイアー",
    "Let the F-curves repeat for ever; not where the root turns": (
        "Fカーブを無限に繰り返します。ルートが回転する場合は使えません"
    ),
    "A copy of the current action with the result in it; the original is kept": (
        "結果を含む、現在のアクションのコピー。元のアクションは残ります"
    ),
    "A new NLA track above the animation that holds only the difference": (
        "アニメーションの上に、差分だけを持つ新しいNLAトラックを作ります"
    ),
    "An object, or a bone of an armature": "オブジェクト、またはアーマチュアのボーン",
    "As Target": "ターゲットと同じ",
    "Bone of the target armature that the effector follows": "ターゲットのアーマチュアのうち、エフェクターが追うボーン",
    "CCD": "CCD法",
    "CCD from the Base": "CCD法（根元から）",
    "Chain Length": "チェーンの長さ",
    "Chains end at this bone: inverse kinematics does not move it": (
        "チェーンはこのボーンで終わります。IKはこのボーンを動かしません"
    ),
    "Damped least squares over angles about fixed axes; small, smooth turns": (
        "固定軸まわりの角度による減衰最小二乗法。回転は小さく滑らかです"
    ),
    "Damped least squares over rotations; small, smooth turns": "回転による減衰最小二乗法。回転は小さく滑らかです",
    "FABRIK": "FABRIK法",
    "Follow": "追従",
    "Goes Along": "チェーンに従う",
    "Height": "高さ",
    "How many bones turn; 0 for all up to the root or to a pinned bone": (
        "回転するボーンの数。0でルートまたはピン留めしたボーンまでのすべて"
    ),
    "How often at most the solver goes over the chain": "ソルバーがチェーンを処理する最大回数",
    "How the turns are found": "回転の求め方",
    "Iterations": "回数",
    "Jacobian, Euler": "ヤコビアン（オイラー）",
    "Jacobian, Quaternion": "ヤコビアン（クォータニオン）",
    "Joint after joint from the base to the tip; quick, and even on any chain": (
        "根元から先端へ関節を順に回します。速く、どのチェーンでも均等に曲がります"
    ),
    "Joint after joint from the tip to the base; the tip does most": (
        "先端から根元へ関節を順に回します。先端が最もよく曲がります"
    ),
    "Joints are put in line from both ends in turn; quick, and evenly bent": (
        "両端から交互に関節を並べます。速く、均等に曲がります"
    ),
    "Joints as particles held apart by the bones; supple, for tails and ropes": (
        "関節をボーンでつながれた粒子として扱います。しなやかで、尻尾やロープ向きです"
    ),
    "Keep": "維持",
    "Keep Offset": "オフセットを保持",
    "Let the effector follow its target over the frame range, as keys on the bones of its chain": (
        "フレーム範囲でエフェクターをターゲットに追従させ、チェーンのボーンにキーを打ちます"
    ),
    "Look-at PD Inverse Kinematics": "ルックアットPDのインバースキネマティクス",
    "Motion Path": "モーションパス",
    "Not higher than this above the lowest place, in chain lengths": (
        "最も低い位置からの高さの上限（チェーンの長さを1とします）"
    ),
    "Object that the effector follows; for an armature, choose a bone as well": (
        "エフェクターが追うオブジェクト。アーマチュアの場合はボーンも選択します"
    ),
    "Object towards which the chain bends; empty for none": (
        "チェーンが曲がる向きを決めるオブジェクト。空なら使いません"
    ),
    "Effector Orientation": "向き",
    "Particle": "パーティクル",
    "Pin": "ピン留め",
    "Effector Point": "対象点",
    "Bend Towards": "曲げる方向",
    "Seconds in which the effector comes to rest before a contact, and leaves it after": (
        "接触の前にエフェクターが静止するまで、また後に離れるまでの秒数"
    ),
    "Seconds over which the turns of a bake are evened out; the effector stays at its target": (
        "ベイクした回転をならす秒数。エフェクターはターゲットに留まります"
    ),
    "Slower than this many chain lengths a second is a contact": (
        "これより遅ければ接触とみなします（毎秒、チェーンの長さを1とします）"
    ),
    "Smoothness": "スムーズ",
    "Solver": "ソルバー",
    "Stay as far from the target as at the first frame": "最初のフレームでのターゲットとの間隔を保ちます",
    "The effector keeps the orientation that its animation has": "エフェクターはアニメーションでの向きを保ちます",
    "The effector takes the orientation of the target": "エフェクターはターゲットの向きになります",
    "The effector turns with the chain": "エフェクターはチェーンと一緒に回転します",
    "The effector's head comes to the target; the bones above it turn, as for a hand or foot": (
        "エフェクターのヘッドをターゲットに合わせます。手や足のように、その上のボーンが回転します"
    ),
    "The effector's tip comes to the target; it turns as well": (
        "エフェクターの先端をターゲットに合わせます。エフェクター自身も回転します"
    ),
    "The motion path that was calculated for the effector, as it was then": (
        "エフェクターについて計算されたモーションパスを、計算時のまま追います"
    ),
    "Tip": "先端",
    "What becomes of the effector's orientation": "エフェクターの向きの扱い",
    "What comes to the target": "ターゲットに合わせる点",
    "What the effector follows": "エフェクターが追うもの",
    "Where the keys go; all other bones stay as they are": "キーの書き込み先。他のボーンはそのままです",
    "Keep the head of the bone, a foot or hand, fixed in the world while it touches something": (
        "足や手などのボーンのヘッドを、何かに触れている間、ワールドで固定します"
    ),
    "When the effector touches something": "エフェクターが何かに触れている時",
    "Wherever it is slow and low, as Speed and Height say": "速度と高さの設定に従い、遅くて低いところすべて",
    "Marked": "指定",
    "From the first to the last frame given here": "ここで指定する最初のフレームから最後のフレームまで",
    "Contact Start": "接触の開始",
    "Contacts": "接触",
    "First frame of the contact": "接触の最初のフレーム",
    "Last frame of the contact": "接触の最後のフレーム",
    "Set chain, orientation and solver of inverse kinematics": (
        "インバースキネマティクスのチェーン、向き、ソルバーを設定します"
    ),
    "Arm or Leg": "腕または脚",
    "The head of the hand or foot, which keeps its orientation": "手や足のヘッドを合わせます。手や足の向きは保たれます",
    "Finger": "指",
    "The tip of the last bone; it bends as its limits allow": "最後のボーンの先端を合わせます。制限の範囲で曲がります",
    "Tail or Rope": "尻尾またはロープ",
    "All bones up to the root or to a pinned one, evenly bent": (
        "ルートまたはピン留めしたボーンまで、すべてが均等に曲がります"
    ),
    "Smallest Turns": "最小の回転",
    "As little as possible away from the animation": "アニメーションからできるだけ離れません",
    "Pin the selected bones, or unpin them where all are pinned: inverse kinematics leaves pinned bones in place": (
        "選択ボーンをピン留めします。すべてピン留め済みなら解除します。IKはピン留めしたボーンを動かしません"
    ),
    "Active Bone": "アクティブボーン",
    "Begin with the active bone at once, instead of a click": "クリックを待たず、すぐにアクティブボーンから始めます",
    "Click a bone and drag it": "ボーンをクリックしてドラッグ",
    "Click a bone and drag it: the chain above follows. Enter keeps the pose, Esc restores it": (
        "ボーンをクリックしてドラッグすると、上のチェーンが追従します。Enterでポーズを確定、Escで元に戻します"
    ),
    "along {}": "{}軸に沿って",
    "error {:.2f} mm": "誤差 {:.2f} mm",
    "without {}": "{}軸以外",
    "{} bones": "{}ボーン",
    "{} iterations": "反復 {}回",
    "There is no bone here": "ここにボーンはありません",
    "Drag a Bone": "ボーンをドラッグ",
    "Cancel": "キャンセル",
    "Axis": "座標軸",
    "Precise": "微調整",
    "Snap": "スナップ",
    "0-4: Solver": "0-4：ソルバー",
    "Pin Active Bone": "アクティブボーンをピン留め",
    "Smoothness (s)": "滑らかさ（秒）",
    "Out of reach": "届かない位置にあります",
    "{:.3f} % left, {} iterations": "残り{:.3f} %、反復{}回",
    # Dynamics
    "Look-at PD Body": "ルックアットPD ボディ",
    "Look-at PD Bone": "ルックアットPD ボーン",
    "Look-at PD Dynamics": "ルックアットPD 力学",
    "Dynamics": "力学処理",
    "Body": "ボディ",
    "Mass": "質量",
    "Mass (kg)": "質量（kg）",
    "Total Mass": "総質量",
    "Total Mass (kg)": "総質量（kg）",
    "Density": "密度",
    "Density (kg/m³)": "密度（kg/m³）",
    "Kilograms of this bone; 0 for what the body gives it": "このボーンの質量（kg）。0の場合は体全体から配分されます",
    "So many times as dense as the body": "体の密度に対する倍率",
    "Kilograms of the whole body; 0 for what one of its size weighs": (
        "体全体の質量（kg）。0の場合は大きさに見合う質量になります"
    ),
    "Kilograms in a cubic metre; water has 1000": "1立方メートルあたりの質量（kg）。水は1000です",
    "Shape": "シェイプ",
    "Where the volume of the bones comes from": "ボーンの体積の求め方",
    "Capsules": "カプセル",
    "Each bone is a rounded cylinder along its length": "各ボーンを、長さに沿った端の丸い円柱とみなします",
    "Skinned Meshes": "スキンメッシュ",
    "The volume inside the meshes, given to the bone that moves it most": (
        "メッシュの内側の体積を、それを最も強く動かすボーンに割り当てます"
    ),
    "Distribution": "分布",
    "How the mass is spread over the bones": "質量をボーンに配分する方法",
    "As in a human where the bones are those of one, else by volume": (
        "人間の骨格なら人間と同じ比率で、それ以外は体積で配分します"
    ),
    "By Volume": "体積による",
    "Every bone is as dense as the others": "すべてのボーンの密度を等しくします",
    "Human Segments": "人体の部位",
    "Head, trunk, arms and legs have the parts of the whole that they have in humans": (
        "頭、胴、腕、脚に、人間と同じ比率で質量を配分します"
    ),
    "Physique": "体格",
    "Whose segments": "どの体格の比率を使うか",
    "Mean": "平均",
    "Between the two": "男性と女性の中間",
    "Male": "男性",
    "Means of young men": "若い男性の平均値",
    "Female": "女性",
    "Means of young women": "若い女性の平均値",
    "Radius": "半径",
    "Of the capsules, as a part of the bone's length": "カプセルの半径。ボーンの長さに対する割合です",
    "Before": "前",
    "After": "後",
    "Action that the last result was made from": "直前の結果の元になったアクション",
    "Action with the last result": "直前の結果が入ったアクション",
    "Show Masses": "質量を表示",
    "Draw the ellipsoid of inertia of each bone in the viewport": "各ボーンの慣性楕円体をビューポートに描画します",
    "Measure the volume inside the skinned meshes, bone by bone, to show what they weigh": (
        "スキンメッシュの内側の体積をボーンごとに測り、質量を表示します"
    ),
    "{:.1f} kg in {} bones": "{:.1f} kg、ボーン{}本",
    "Own Settings": "個別の設定",
    "This bone has tension, strength and the like of its own": "このボーンだけの引張や強さなどを使います",
    "Tension": "引張",
    "How early the bone arrives: at 9.2 a thousandth of the way is left at its key, at 4.7 a twentieth": (
        "ボーンが着く早さ。キーの時点で残る道のりは、9.2なら1000分の1、4.7なら20分の1です"
    ),
    "How early the bones arrive: at 9.2 a thousandth of the way is left at a key, at 4.7 a twentieth": (
        "各ボーンが着く早さ。キーの時点で残る道のりは、9.2なら1000分の1、4.7なら20分の1です"
    ),
    "Torque Limit": "トルク制限",
    "How strong the joint is": "関節の強さ",
    "How strong the joints are": "関節の強さ",
    "The joints are as strong as the keys demand": "キーに必要なだけのトルクを出します",
    "Strength": "強さ",
    "As a multiple of what it takes to hold the limb out level": "手足を水平に保つのに必要なトルクに対する倍率",
    "Times what holds the limb out level": "手足を水平に保つトルクの何倍まで出せるか",
    "Torque": "トルク",
    "Torque (N m)": "トルク（N m）",
    "In newton metres, whatever the limb weighs": "手足の重さによらず、ニュートンメートルで指定します",
    "Largest torque of the joint, in newton metres": "関節が出せる最大のトルク（ニュートンメートル）",
    "Largest torque of each joint, in newton metres": "各関節が出せる最大のトルク（ニュートンメートル）",
    "Passive": "パッシブ",
    "The bone has no muscles: its keys after the first do not count, what carries it drags it along": (
        "筋肉のないボーンとして扱います。最初のキー以外は使わず、親の動きに引きずられます"
    ),
    "The selected bones have no muscles: their keys after the first do not count, what carries them drags them along": (
        "選択ボーンを筋肉のないものとして扱います。最初のキー以外は使わず、親の動きに引きずられます"
    ),
    "Stiffness": "剛性",
    "How fast a passive bone swings back to its first key, in swings a second; 0 hangs freely": (
        "パッシブなボーンが最初のキーへ戻る速さ（1秒あたりの往復数）。0で自由に垂れ下がります"
    ),
    "How fast passive bones swing back to their first key, in swings a second; 0 hangs freely": (
        "各パッシブボーンが最初のキーへ戻る速さ（1秒あたりの往復数）。0で自由に垂れ下がります"
    ),
    "How fast a passive bone's swinging dies away: 1 swings back without going past": (
        "パッシブなボーンの揺れが収まる速さ。1で行き過ぎずに戻ります"
    ),
    "How fast the swinging of passive bones dies away: 1 swings back without going past": (
        "各パッシブボーンの揺れが収まる速さ。1で行き過ぎずに戻ります"
    ),
    "Keys": "キー",
    "Which keys the motion must hit": "動きが必ず通るキー",
    "Selected Keys": "選択中のキー",
    "The keys that are selected in the timeline or in an animation editor": (
        "タイムラインやアニメーションエディターで選択されているキー"
    ),
    "All Keys": "全キー",
    "All keys of the selected bones within the range": "範囲内にある、選択ボーンのすべてのキー",
    "Gravity": "重力",
    "The scene's gravity pulls at the body": "シーンの重力が体にかかります",
    "Inertia": "慣性",
    "What the joints take the body to weigh, pose by pose": "関節が、体の重さをどう見込んでいるか",
    "Own Mass": "自身の質量",
    "The joints know what they have to move: a heavier body moves just the same": (
        "関節は動かすものの重さを知っています。重い体でも同じように動きます"
    ),
    "Reference": "参照",
    "The joints give a body of the density of water what it needs: a heavier one is late": (
        "水と同じ密度の体に必要な力を出します。それより重い体は遅れます"
    ),
    "Settle (s)": "収束（秒）",
    "Seconds that the motion goes on after the last key, overshooting and coming to rest there": (
        "最後のキーの後も動きが続き、行き過ぎて落ち着くまでの秒数"
    ),
    "Human Arm": "人間の腕",
    "Strong enough for what arms do, and no more; gravity pulls": "腕に必要なだけの強さ。重力がかかります",
    "Hardly strong enough for its own weight: starts late, arrives late, goes past its keys": (
        "自分の重さをやっと支える強さ。動き出しも到着も遅れ、キーを行き過ぎます"
    ),
    "Puppet": "人形",
    "Loose and without weight, pulled from key to key": "ゆるく重さがなく、キーからキーへ引かれて動きます",
    "Tail": "テール",
    "Without muscles: swings behind what carries it, and back": "筋肉がなく、親の動きに遅れて揺れ、元に戻ります",
    "Set tension, strength and gravity of the next motion": "次の動きの引張、強さ、重力を設定します",
    "Move the selected bones from key to key as limbs that have weight, and hit the keys": (
        "選択ボーンを重さのある手足としてキーからキーへ動かし、キーを正確に通します"
    ),
    "Play the action as it was before the keys were interpolated, or the result again": (
        "キーを補間する前のアクションと結果を切り替えて再生します"
    ),
    "Let the active bone reach for its goal from the current frame on, with as little change of torque as there is": (
        "現在のフレームから、トルクの変化が最小になるようにアクティブボーンをゴールへ伸ばします"
    ),
    "What reaches the goal": "ゴールに届かせる点",
    "The effector's head reaches the goal; the bones above it turn, as for a hand or foot": (
        "エフェクターのヘッドがゴールに届きます。手や足のように、その上のボーンが回転します"
    ),
    "The effector's tip reaches the goal; it turns as well": (
        "エフェクターの先端がゴールに届きます。エフェクター自身も回転します"
    ),
    "Goal": "ゴール",
    "What the effector reaches for": "エフェクターが手を伸ばす先",
    "Object": "オブジェクト",
    "An object, or a bone of an armature, where it is when the effector arrives": (
        "オブジェクトまたはアーマチュアのボーン。到着する時点の位置を使います"
    ),
    "3D Cursor": "3Dカーソル",
    "The 3D cursor": "3Dカーソルの位置",
    "Object that is reached; for an armature, choose a bone as well": (
        "手を伸ばす先のオブジェクト。アーマチュアの場合はボーンも選択します"
    ),
    "Bone of the target armature that is reached": "手を伸ばす先のアーマチュアのボーン",
    "Duration": "期間",
    "Duration (s)": "期間（秒）",
    "Seconds that the reach takes": "届くまでの秒数",
    "How the motion is found": "動きの求め方",
    "Smoothing": "スムージング",
    "The published loop: the torques of a minimum-jerk reach are smoothed, pass after pass": (
        "論文の方法。躍度最小の動きのトルクを、パスを重ねて平滑化します"
    ),
    "Optimal": "最適",
    "The least change of torque that there is, found directly; takes longer": (
        "トルクの変化が最小になる動きを直接求めます。時間がかかります"
    ),
    "Passes": "パス",
    "How often the torques are smoothed, at most": "トルクを平滑化する最大の回数",
    "Joint Damping": "関節の減衰",
    "How much the joints resist turning, in newton metres for each radian a second": (
        "関節の回りにくさ（毎秒1ラジアンあたりのニュートンメートル）"
    ),
    "Joint Limits": "関節の制限",
    "Keep to the limits under Bone > Inverse Kinematics and to Limit Rotation constraints": (
        "「ボーン」>「インバースキネマティクス（IK）」の制限と回転制限コンストレイントを守ります"
    ),
    "Via": "経由点",
    "Object through which the effector goes": "エフェクターが通るオブジェクト",
    "When, as a part of the whole time": "通る時点。全体の時間に対する割合です",
    "Index": "インデックス",
    "Which of the places": "どの経由点か",
    "Add the selected objects to the places through which the effector goes": (
        "選択オブジェクトを、エフェクターの経由点に追加します"
    ),
    "Go on without this place": "この経由点を取り除きます",
    "Current Frame": "現在のフレーム",
    "Set out at the current frame": "現在のフレームから動き始めます",
    "Frame at which the reach sets out": "動き始めるフレーム",
    "Cost of each Pass": "各パスのコスト",
    "Path of the Hand, and the Straight Way": "手の軌跡とまっすぐな道のり",
    "Front": "前",
    "Side": "サイド",
    "Top": "上",
    # Directing the gaze
    "Targets": "ターゲット",
    "Active Target": "アクティブターゲット",
    "Further Targets": "追加のターゲット",
    "Highlighted Target": "選択中のターゲット",
    "What else may be looked at, by number from 1 on": "他に見ることのできる対象。番号は1から始まります",
    "What is looked at: 0 is the target above, 1 the first of the further targets; key it to switch": (
        "見る対象。0は上のターゲット、1は追加のターゲットの1番目です。キーを打つと切り替わります"
    ),
    "Object to look at while this one is active; without one the look-at is off then": (
        "この行がアクティブの間に見るオブジェクト。空の場合、その間ルックアットはオフになります"
    ),
    "Which target to look at": "どのターゲットを見るか",
    "Number of the target; -1 for the highlighted line": "ターゲットの番号。-1で選択中の行",
    "Add the other selected objects to the list of targets, or an empty line where there are none": (
        "他の選択オブジェクトをターゲットのリストに追加します。なければ空の行を追加します"
    ),
    "Empty Line": "空の行",
    "Add a line to choose an object in, whatever is selected": (
        "選択に関わらず、後でオブジェクトを指定するための行を追加します"
    ),
    "Take a target from the list. Keys of the others go on meaning them; its own go": (
        "ターゲットをリストから外します。他のターゲットのキーの意味は変わらず、外したもののキーは消えます"
    ),
    "Move the highlighted target up or down; from the first line up it becomes the main one. Keys go along": (
        "選択中のターゲットを上下に移動します。1行目から上へ移動するとメインになります。キーも追従します"
    ),
    "Towards the main target": "メインターゲットの方へ",
    "Away from it": "その反対へ",
    "Key that this target is looked at from the current frame on; before it all stays as it was": (
        "現在のフレームからこのターゲットを見るようにキーを打ちます。それより前は変わりません"
    ),
    "Selected Object": "選択オブジェクト",
    "Look at the other selected object, which comes into the list": (
        "他の選択オブジェクトを見ます。リストになければ追加します"
    ),
    "Key that nothing is looked at from the current frame on: back to the animation": (
        "現在のフレームから何も見ないようにキーを打ち、元のアニメーションに戻します"
    ),
    "Look from each timeline marker on at what it names: an object, a bone (Hero:head), or off": (
        "タイムラインの各マーカーから、その名前の対象を見ます。オブジェクト、ボーン（Hero:head）、またはoff"
    ),
    "Let the selected characters look at whoever speaks; timeline markers called after them say who does": (
        "選択キャラクターが話し手を見るようにします。誰が話すかは、キャラクター名のタイムラインマーカーで決まります"
    ),
    "Seed": "シード",
    "Another number gives other reactions and glances": "番号を変えると、反応や視線の外し方が変わります",
    "Reaction From": "反応（最短）",
    "Reaction From (s)": "反応（秒）：最短",
    "Seconds until the quickest listeners turn to who begins to speak": (
        "話し始めた人の方を、最も早い聞き手が向くまでの秒数"
    ),
    "Reaction To": "反応（最長）",
    "To (s)": "最長",
    "Seconds until the slowest have turned": "最も遅い聞き手が向くまでの秒数",
    "Glances": "視線外し",
    "How much the characters avert their eyes, above all who speaks; 0 for not at all": (
        "キャラクターが目をそらす度合い。主に話し手がそらします。0でそらしません"
    ),
    "Replace": "置き換え",
    "Delete the keys of targets, and of on and off, that are there from the first turn on": (
        "最初の発言以降にある、ターゲットとオン/オフのキーを削除します"
    ),
}
"""Everything but names of operators: names of settings and panels, and all descriptions."""

OPERATORS = {
    "Add Look-at PD": "ルックアットPDを追加",
    "Remove Look-at PD": "ルックアットPDを削除",
    "Copy Look-at to Selected Bones": "選択ボーンにルックアットをコピー",
    "Mirror Look-at": "ルックアットをミラー",
    "Look-at Preset": "ルックアットプリセット",
    "Add Look-at Preset": "ルックアットプリセットを追加",
    "Key Look-at Setting": "ルックアットの設定にキーを打つ",
    "Follow": "追従",
    "Bake": "ベイク",
    "Bake Look-at": "ルックアットをベイク",
    "Solve": "計算",
    "Detect Chain": "チェーンを検出",
    "Add Bone to Chain": "チェーンにボーンを追加",
    "Remove Bone from Chain": "チェーンからボーンを外す",
    "Move Bone in Chain": "チェーン内でボーンを移動",
    "Join Actions": "アクションをつなぐ",
    "Loop Action": "アクションをループ化",
    "Smooth Pop": "ポップを滑らかに",
    "Join Actions at Markers": "マーカーでアクションをつなぐ",
    "Transition Preset": "トランジションプリセット",
    "Find Best Cut": "最適なカットを検出",
    "Add Transition between Strips": "ストリップ間にトランジションを追加",
    "Bake IK": "IKをベイク",
    "Clean Up Contacts": "接触を整える",
    "IK Preset": "IKプリセット",
    "Pin Selected Bones": "選択ボーンをピン留め",
    "Drag with IK": "IKでドラッグ",
    "Clean Up Found": "検出して整える",
    "Clean Up Preview Range": "プレビュー範囲を整える",
    "Interpolate Keys": "キーを補間",
    "Compare with Original": "元のアクションと比較",
    "Reach": "リーチ",
    "Add Via": "経由点を追加",
    "Remove Via": "経由点を除去",
    "Dynamics Preset": "力学プリセット",
    "Measure Meshes": "メッシュを計測",
    "Add Target": "ターゲットを追加",
    "Remove Target": "ターゲットを削除",
    "Move Target": "ターゲットを移動",
    "Look at This from Here": "ここからこれを見る",
    "Look Away from Here": "ここから目を離す",
    "Targets from Markers": "マーカーからターゲットを設定",
    "Converse": "会話",
}
"""Names of operators and texts on their buttons."""

SENTENCES = {
    # The whole body
    "Armature '{}' has no bone '{}' for an eye; choose another.": (
        "アーマチュア「{}」に、目とするボーン「{}」がありません。別のものを選んでください。"
    ),
    "Armature '{}' has no bone '{}' to move the hips by; choose another.": (
        "アーマチュア「{}」に、腰を動かすボーン「{}」がありません。別のものを選んでください。"
    ),
    "Bone '{}' cannot be an eye: it is in the chain of the look-at; choose another.": (
        "ボーン「{}」はルックアットのチェーンに入っているため、目にできません。別のものを選んでください。"
    ),
    "Bone '{}' is in the chain of the look-at and cannot be a limb or an eye too; take it out of the chain.": (
        "ボーン「{}」はルックアットのチェーンに入っているため、腕、脚、目にはなれません。チェーンから外してください。"
    ),
    "How far the hips shift must be finite numbers.": "腰が動く距離は有限の数でなければなりません。",
    "The amount of arm recoil must be 0 or more, not {}.": "腕の反動の量は0以上でなければなりません（指定値: {}）。",
    "The location of bone '{}' is driven; delete the driver, or switch off what moves the bone.": (
        "ボーン「{}」の位置はドライバーで動いています。ドライバーを削除するか、ボーンを動かす機能をオフにしてください。"
    ),
    "What the chain leaves to the eyes is a fraction, within angles of 0 or more.": (
        "チェーンが目に任せる分は割合で、その角度は0以上でなければなりません。"
    ),
    "No bone was found that moves the hips, so they stay; choose one under Body.": (
        "腰を動かすボーンが見つからないため、腰は動きません。「体」で選んでください。"
    ),
    "No bone of an eye was found, so only the head looks; choose one under Eyes.": (
        "目のボーンが見つからないため、頭だけで見ます。「目」で選んでください。"
    ),
    "No lid bone and no shape key was found that closes the eyes, so they stay open in a blink.": (
        "目を閉じるまぶたのボーンもシェイプキーも見つからないため、まばたきしても目は開いたままです。"
    ),
    "No mesh of '{}' has a shape key '{}' to close the eyes; choose another.": (
        "「{}」のどのメッシュにも、目を閉じるシェイプキー「{}」がありません。別のものを選んでください。"
    ),
    "Shape key '{}' has keys of its own, so blinks show with it once they are baked.": (
        "シェイプキー「{}」にはキーフレームがあるため、まばたきはベイクすると現れます。"
    ),
    "Shape key '{}' is driven, in the NLA or not editable, so it shows no blink.": (
        "シェイプキー「{}」はドライバーかNLAで動いているか、編集できないため、まばたきしません。"
    ),
    "No leg of two bones and a foot was found, so no feet are planted.": (
        "2本のボーンと足からなる脚が見つからないため、足は固定されません。"
    ),
    "No arm was found that hangs on the rib cage, so none recoils.": (
        "胸郭につながる腕が見つからないため、腕の反動はありません。"
    ),
    # Inverse kinematics
    "A chain needs at least one joint; give one offset and one rotation for each.": (
        "チェーンには関節が1つ以上必要です。関節ごとにオフセットと回転を1つずつ指定してください。"
    ),
    "A quaternion of the {} has length 0, which is no rotation; give it a length.": (
        "{}に長さ0のクォータニオンがあり、回転になりません。長さのある値を指定してください。"
    ),
    "Joint {} stands before its parent {}; list parents first.": (
        "関節{}がその親{}より前にあります。親を先に並べてください。"
    ),
    "Limits of {} joints need an Euler order for each, not {}.": (
        "関節{}個の制限には、関節ごとのオイラー角の順序が必要ですが、{}個あります。"
    ),
    "Limits of {} joints need {} of shape {}, not {}.": (
        "関節{}個の制限には、{}の形状が{}である必要がありますが、{}です。"
    ),
    "Limits without a single array limit nothing; leave the limits out.": (
        "配列が1つもない制限は何も制限しません。制限を省いてください。"
    ),
    "Method {} draws no joints to goals; use one of {}.": (
        "方式{}では関節を目標へ引き寄せられません。{}のいずれかを使用してください。"
    ),
    "Method {} is unknown; use one of {}.": "方式{}は不明です。{}のいずれかを使用してください。",
    "Nothing is wanted of joint {}; give a target or an orientation.": (
        "関節{}に対する目標がありません。ターゲットか向きを指定してください。"
    ),
    "The base must be a position, a rotation, or both: 3, 4 or 7 numbers, not {}.": (
        "ベースは位置、回転、またはその両方（3、4、7個の数値）で指定してください。{}個になっています。"
    ),
    "The batches do not fit together: {}; give all the same leading axes.": (
        "バッチの大きさが合いません（{}）。先頭の軸をすべて揃えてください。"
    ),
    "The limits are those of {} joints, but there are {}; give one for each.": (
        "制限は関節{}個分ですが、関節は{}個あります。関節ごとに1つ指定してください。"
    ),
    "The limits of joint {} about {} leave nothing: the minimum {}° is above the maximum {}°; exchange them.": (
        "関節{}の{}軸の制限には動ける範囲がありません。最小値{}°が最大値{}°を上回っています。入れ替えてください。"
    ),
    "The number of iterations must be a whole number, 0 or more, not {}.": (
        "反復回数は0以上の整数にしてください（現在{}）。"
    ),
    "The parents must be {} whole numbers, one for each joint, -1 for a root.": (
        "親は{}個の整数で、関節ごとに1つ、ルートは-1で指定してください。"
    ),
    "The shape of the {} must be ({}), not {}.": "{}の形状は({})にしてください。現在は{}です。",
    "The tolerance must be 0 or more, not {}.": "許容誤差は0以上にしてください（現在{}）。",
    "The weights of joint {} must be 0 or more, not {}.": "関節{}のウェイトは0以上にしてください（現在{}）。",
    "The {} must be an array of numbers.": "{}は数値の配列にしてください。",
    "The {} must be between 0 and 1, not {}.": "{}は0から1の間にしてください（現在{}）。",
    "The {} must be finite numbers; one of them is infinite or not a number.": (
        "{}は有限の数値にしてください。無限大または数値でない値が含まれています。"
    ),
    "The {} of joint {} is not a number; give it one.": "{}が関節{}で数値になっていません。数値を指定してください。",
    "There is no effector; name at least one joint and its target.": (
        "エフェクターがありません。関節とそのターゲットを1つ以上指定してください。"
    ),
    "There is no joint {} to be an effector; joints are 0 to {}.": (
        "エフェクターにする関節{}がありません。関節は0から{}までです。"
    ),
    # Why an operator cannot be used
    "Add a look-at first": "先にルックアットを追加してください",
    "Choose a target to look at": "見る対象となるターゲットを選択してください",
    "Every look-at here is muted, as it is after a bake; unmute the one to bake": (
        "すべてのルックアットがミュートされています（ベイク後はミュートされます）。ベイクするもののミュートを解除してください"
    ),
    "In pose mode, select the bones that are to look as well": (
        "ポーズモードで、同じように見るボーンを選択してください"
    ),
    "Leave NLA tweak mode": "NLAの調整モードから出てください",
    "Leave edit mode": "編集モードから出てください",
    "Select the character's armature": "キャラクターのアーマチュアを選択してください",
    "The action has no slot chosen for this armature; choose one in the Action editor": (
        "このアーマチュア用のアクションスロットが選択されていません。アクションエディターで選択してください"
    ),
    "The action is empty": "アクションが空です",
    "The armature plays no action; choose one in the Action editor": (
        "アーマチュアにアクションが割り当てられていません。アクションエディターで選択してください"
    ),
    "There are no actions to join; animate the armature first, or append some": (
        "つなぐアクションがありません。先にアーマチュアにアニメーションを付けるか、アペンドしてください"
    ),
    "Select two strips of the armature in the NLA editor": (
        "NLAエディターで、このアーマチュアのストリップを2つ選択してください"
    ),
    "Set a timeline marker named after an action where each is to begin": (
        "アクションを始める位置に、そのアクションと同名のタイムラインマーカーを置いてください"
    ),
    # What operators and panels say
    "Bake cancelled; nothing was changed.": "ベイクをキャンセルしました。何も変更されていません。",
    "Solving {} %": "計算中 {}%",
    "Solving {} %, {} s left": "計算中 {}%、残り約{}秒",
    "Solved {} to {} in {} s": "{}～{}を計算済み（{}秒）",
    "Solved {} to {} in {} ms": "{}～{}を計算済み（{} ms）",
    "The look-at on '{}' is muted; unmute it to bake it.": (
        "「{}」のルックアットはミュートされています。ベイクするにはミュートを解除してください。"
    ),
    "Bone '{}' has no parent and nothing else stands still to hold its offset by; give it a root bone as its parent, "
    "or take it out of the chain.": (
        "ボーン「{}」には親がなく、オフセットの支えになる動かないものがほかにありません。親になるルートボーンを付けるか、"
        "チェーンから外してください。"
    ),
    "Follow cancelled; nothing was changed.": "追従をキャンセルしました。何も変更されていません。",
    "Recorded frames {} to {} into {}; the look-at on '{}' is muted, since its motion is in the keys.": (
        "フレーム{}～{}を{}に記録しました。動きがキーに入ったため、「{}」のルックアットをミュートしました。"
    ),
    "Keyed the pose at frame {}; the look-at on '{}' is muted, since its turn is in the keys.": (
        "フレーム{}のポーズにキーを打ちました。回転がキーに入ったため、「{}」のルックアットをミュートしました。"
    ),
    "Kept the pose at frame {}; the look-at on '{}' is muted, since its turn is in the bones.": (
        "フレーム{}のポーズを残しました。回転がボーンに入ったため、「{}」のルックアットをミュートしました。"
    ),
    "A character follows already; end that with Enter or Esc": ("すでに追従中です。EnterまたはEscで終了してください"),
    "This look-at is muted; unmute it to follow": (
        "このルックアットはミュートされています。追従するにはミュートを解除してください"
    ),
    "There is no window to follow the mouse in.": "マウスを追うウィンドウがありません。",
    "The file was changed by an undo while the character followed; follow again.": (
        "追従中に「元に戻す」でファイルが変更されました。もう一度追従してください。"
    ),
    "The window shows another scene now; follow there again.": (
        "ウィンドウのシーンが切り替わりました。そのシーンでもう一度追従してください。"
    ),
    "The look-at on '{}' is muted; unmute it to follow.": (
        "「{}」のルックアットはミュートされています。追従するにはミュートを解除してください。"
    ),
    "The influence of the look-at on '{}' is 0 here; raise it to follow.": (
        "「{}」のルックアットの影響がここでは0です。追従するには上げてください。"
    ),
    "The character was deleted while it followed.": "追従中にキャラクターが削除されました。",
    "Armature '{}' went into edit mode while it followed.": "追従中にアーマチュア「{}」が編集モードになりました。",
    "The look-at on '{}' was removed while it followed.": "追従中に「{}」のルックアットが削除されました。",
    "The chain of the look-at on '{}' changed while it followed; follow again.": (
        "追従中に「{}」のルックアットのチェーンが変更されました。もう一度追従してください。"
    ),
    "The recording is shorter than two frames; follow for longer.": (
        "記録が2フレームに足りません。もう少し長く追従してください。"
    ),
    "Baking look-at: {} %   Esc: cancel": "ルックアットをベイク中：{}%   Esc：キャンセル",
    "Baked {}, frames {} to {}, into {} ({} s).": "{0}、フレーム{1}～{2}を{3}にベイクしました（{4}秒）。",
    "'{}': {} bones, frames {} to {}, joined at {}{}{} ({} s).": (
        "「{}」：{}ボーン、フレーム{}～{}、接続位置{}{}{}（{}秒）。"
    ),
    "'{}' loops over frames {} to {} ({} s at each end){}.": "「{}」がフレーム{}～{}でループします（両端で各{}秒）{}。",
    "Smoothed {} pop at frame {}.": "{}箇所のポップを滑らかにしました（フレーム{}）。",
    "Smoothed {} pops at frame {}.": "{}箇所のポップを滑らかにしました（フレーム{}）。",
    "The aiming bone stays first in its chain.": "エイムボーンは常にチェーンの先頭です。",
    "The aiming bone stays in its chain; highlight another bone, or remove the look-at.": (
        "エイムボーンはチェーンから外せません。別のボーンを選択するか、ルックアットを削除してください。"
    ),
    "Make a bone active that is not in the chain yet, and try again.": (
        "まだチェーンにないボーンをアクティブにして、もう一度実行してください。"
    ),
    "Bone '{}' of '{}' has no look-at to remove.": "「{1}」のボーン「{0}」には、削除するルックアットがありません。",
    "Copied the look-at on '{}' to {} bone.": "「{}」のルックアットを{}個のボーンにコピーしました。",
    "Copied the look-at on '{}' to {} bones.": "「{}」のルックアットを{}個のボーンにコピーしました。",
    "Mirrored the look-at on '{}' to '{}'.": "「{}」のルックアットを「{}」にミラーしました。",
    "Bone '{}' has no bone on the other side; mirror between bones such as eye.L and eye.R.": (
        "ボーン「{}」には反対側のボーンがありません。eye.Lとeye.Rのように左右のあるボーンで使ってください。"
    ),
    "The preset '{}' cannot be read; mend or remove the file.": (
        "プリセット「{}」を読み込めません。ファイルを修正または削除してください。"
    ),
    "Line {} of the preset '{}' is no plain setting; mend or remove the file.": (
        "プリセット「{1}」の{0}行目は単純な設定ではありません。ファイルを修正または削除してください。"
    ),
    "The preset '{}' sets '{}', which presets cannot; mend or remove the file.": (
        "プリセット「{}」は、プリセットでは設定できない「{}」を設定しています。ファイルを修正または削除してください。"
    ),
    "The preset '{}' gives '{}' a value that it cannot have; mend or remove the file.": (
        "プリセット「{}」の「{}」の値が不正です。ファイルを修正または削除してください。"
    ),
    "The preset '{}' comes with the add-on and cannot be removed.": (
        "プリセット「{}」は拡張機能に付属しているため、削除できません。"
    ),
    "The file was changed by an undo while the bake was running; bake again.": (
        "ベイク中に「元に戻す」でファイルが変更されました。もう一度ベイクしてください。"
    ),
    "There is no object '{}' in the scene; choose one that exists.": (
        "シーンにオブジェクト「{}」がありません。存在するものを選択してください。"
    ),
    "There is no {} to join; choose an action for it.": "{}が指定されていません。アクションを選択してください。",
    "There is no action '{}' to be the {}; choose one that exists.": (
        "{1}にするアクション「{0}」がありません。存在するものを選択してください。"
    ),
    "No pop was found between the scene's first and last frame; go to one and smooth that frame.": (
        "シーンのフレーム範囲にポップが見つかりません。ポップのあるフレームに移動し、そのフレームを滑らかにしてください。"
    ),
    "The range {} to {} is empty or reversed; mend it.": "範囲{}～{}が空か逆です。修正してください。",
    # The armature and its look-ats
    "There is no armature; select one and try again.": (
        "アーマチュアがありません。選択して、もう一度実行してください。"
    ),
    "'{}' is not an armature; select the character's armature.": (
        "「{}」はアーマチュアではありません。キャラクターのアーマチュアを選択してください。"
    ),
    "'{}' is linked from a library; make a library override of it (Object > Library Override) first.": (
        "「{}」はライブラリからリンクされています。"
        "先にライブラリオーバーライドを作成してください（オブジェクト > ライブラリオーバーライド）。"
    ),
    "Armature '{}' has no bones; add some, or reload the library it comes from.": (
        "アーマチュア「{}」にボーンがありません。ボーンを追加するか、元のライブラリを再読み込みしてください。"
    ),
    "Armature '{}' has no bone '{}'; choose one that exists.": (
        "アーマチュア「{}」にボーン「{}」がありません。存在するものを選択してください。"
    ),
    "Armature '{}' is in edit mode; leave it (Tab) and try again.": (
        "アーマチュア「{}」は編集モードです。編集モードから出て（Tab）、もう一度実行してください。"
    ),
    "Armature '{}' is shown in rest position; switch it to pose position.": (
        "アーマチュア「{}」はレスト位置で表示されています。ポーズ位置に切り替えてください。"
    ),
    "Bone '{}' has a look-at already; change its settings, or remove it first.": (
        "ボーン「{}」には既にルックアットがあります。設定を変更するか、先に削除してください。"
    ),
    "No bone of this armature looks like a head; pick the head bone yourself.": (
        "このアーマチュアに頭らしいボーンが見つかりません。頭のボーンを自分で選択してください。"
    ),
    "The chain of the look-at on '{}' begins with '{}'; put '{}' first, or detect the chain again.": (
        "「{}」のルックアットのチェーンが「{}」から始まっています。「{}」を先頭にするか、チェーンを再検出してください。"
    ),
    "The chain of the look-at on '{}' names '{}', which does not exist; remove it.": (
        "「{}」のルックアットのチェーンに、存在しない「{}」が入っています。外してください。"
    ),
    "The chain of the look-at on '{}' holds '{}' twice; remove one of them.": (
        "「{}」のルックアットのチェーンに「{}」が2回入っています。一方を外してください。"
    ),
    "The look-at on '{}' has no target; choose an object for it to look at.": (
        "「{}」のルックアットにターゲットがありません。見る対象のオブジェクトを選択してください。"
    ),
    "The point to look at, {}, is not finite; give three numbers.": (
        "見る対象の点{}が有限の値ではありません。3つの数値を指定してください。"
    ),
    "There is nothing to look at; choose an object or a point.": (
        "見る対象がありません。オブジェクトまたは点を選択してください。"
    ),
    "The target '{}' is in no scene any more; choose another target.": (
        "ターゲット「{}」はもうどのシーンにもありません。別のターゲットを選択してください。"
    ),
    "The target '{}' has no bone '{}'; choose another bone.": (
        "ターゲット「{}」にボーン「{}」がありません。別のボーンを選択してください。"
    ),
    "The target is the armature '{}' itself; choose one of its bones or another object.": (
        "ターゲットがアーマチュア「{}」自身です。そのボーンの1つ、または別のオブジェクトを選択してください。"
    ),
    "The target '{}' moves with the chain that looks at it; choose a target outside it.": (
        "ターゲット「{}」は、それを見るチェーンと一緒に動きます。チェーンの外のターゲットを選択してください。"
    ),
    "Bone '{}' copies its rotation from '{}', so an offset has no effect; put '{}' into the chain instead.": (
        "ボーン「{}」は「{}」の回転をコピーしているため、オフセットが効きません。代わりに「{}」をチェーンに入れてください。"
    ),
    # Sampling and baking
    "Bone '{}' has a pose that is not a number at frame {}; mend its F-curves or constraints.": (
        "ボーン「{}」のポーズがフレーム{}で数値になっていません。Fカーブまたはコンストレイントを修正してください。"
    ),
    "Bone '{}' has zero scale at frame {}; give it a scale above zero.": (
        "ボーン「{}」のスケールがフレーム{}で0です。0より大きくしてください。"
    ),
    "Bone '{}' is mirrored by a negative scale of its own at frame {}; make its scale positive.": (
        "ボーン「{}」がフレーム{}で自身の負のスケールにより反転しています。スケールを正の値にしてください。"
    ),
    "Object '{}' has a transform that is not a number at frame {}.": (
        "オブジェクト「{}」のトランスフォームがフレーム{}で数値になっていません。"
    ),
    "Object '{}' has zero scale at frame {}; give it, and its parents, a scale above zero.": (
        "オブジェクト「{}」のスケールがフレーム{}で0です。親も含めて、スケールを0より大きくしてください。"
    ),
    "Target '{}' has no finite position at frame {}; mend its animation.": (
        "ターゲット「{}」の位置がフレーム{}で有限の値ではありません。アニメーションを修正してください。"
    ),
    "There is no look-at to bake; add one to the head bone first.": (
        "ベイクするルックアットがありません。先に頭のボーンに追加してください。"
    ),
    "The frame range {} to {} is reversed; put the smaller number first.": (
        "フレーム範囲{}～{}が逆です。小さい方の数値を先にしてください。"
    ),
    "The frame range holds only frame {}; a bake needs at least two.": (
        "フレーム範囲がフレーム{}だけです。ベイクには少なくとも2フレーム必要です。"
    ),
    "Bone '{}' does not answer to an offset, a constraint overrides it; take it out of the chain or put the bone "
    "that drives it in.": (
        "ボーン「{}」はコンストレイントに上書きされ、オフセットが効きません。"
        "チェーンから外すか、それを動かしているボーンをチェーンに入れてください。"
    ),
    "Cannot bake into {}; choose NEW, CURRENT or LAYER.": (
        "{}にはベイクできません。NEW、CURRENT、LAYERのいずれかを選択してください。"
    ),
    "'{}' has no current action; bake into a new one.": (
        "「{}」には現在のアクションがありません。新規アクションにベイクしてください。"
    ),
    "'{}' is in NLA tweak mode; leave it (Tab in the NLA editor) and bake again.": (
        "「{}」はNLAの調整モードです。調整モードから出て（NLAエディターでTab）、もう一度ベイクしてください。"
    ),
    "'{}' is in NLA tweak mode; leave it (Tab in the NLA editor) and try again.": (
        "「{}」はNLAの調整モードです。調整モードから出て（NLAエディターでTab）、もう一度実行してください。"
    ),
    "Action '{}' has no slot chosen for '{}', so it moves nothing; choose one in the Action editor.": (
        "アクション「{}」で「{}」用のスロットが選択されていないため、何も動きません。"
        "アクションエディターで選択してください。"
    ),
    "Action '{}' is blended onto the NLA of '{}'; set its blending to Replace with influence 1, or bake into a "
    "layer.": (
        "アクション「{}」は「{}」のNLAにブレンドされています。"
        "ブレンド方法を「置き換え」、影響を1にするか、NLAレイヤーにベイクしてください。"
    ),
    "Action '{}' is linked from a library; bake into a new action or a layer.": (
        "アクション「{}」はライブラリからリンクされています。新規アクションまたはNLAレイヤーにベイクしてください。"
    ),
    "Action '{}' also moves '{}'; bake into a new action or a layer.": (
        "アクション「{}」は「{}」も動かしています。新規アクションまたはNLAレイヤーにベイクしてください。"
    ),
    "Action '{}' plays with an influence below 1; set it to 1 and bake again.": (
        "アクション「{}」の影響が1未満です。1にして、もう一度ベイクしてください。"
    ),
    "The NLA of '{}' is switched off; switch it on, or bake into a new action.": (
        "「{}」のNLAがオフになっています。オンにするか、新規アクションにベイクしてください。"
    ),
    "An NLA track of '{}' plays solo; end the solo, or bake into a new action.": (
        "「{}」のNLAトラックがソロになっています。ソロを解除するか、新規アクションにベイクしてください。"
    ),
    "The rotation of bone '{}' is driven; delete the driver or take the bone out of the chain.": (
        "ボーン「{}」の回転にドライバーがあります。ドライバーを削除するか、ボーンをチェーンから外してください。"
    ),
    "An F-curve of bone '{}' is muted or has a modifier; bake into a new action or a layer.": (
        "ボーン「{}」のFカーブがミュートされているか、モディファイアーがあります。"
        "新規アクションまたはNLAレイヤーにベイクしてください。"
    ),
    # Joining, looping and smoothing
    "Action '{}' has no slot for objects, so it cannot move '{}'; choose another.": (
        "アクション「{}」にはオブジェクト用のスロットがないため、「{}」を動かせません。別のものを選択してください。"
    ),
    "Action '{}' has a value that is not a number in {} at frame {}; mend or delete that key.": (
        "アクション「{0}」の{1}に、フレーム{2}で数値でない値があります。そのキーを修正または削除してください。"
    ),
    "Action '{}' has a key at a frame that is not a number; delete that key.": (
        "アクション「{}」に、フレームが数値でないキーがあります。そのキーを削除してください。"
    ),
    "Action '{}' is empty; choose one with keys.": "アクション「{}」は空です。キーのあるものを選択してください。",
    "Action '{}' is made for another rig: of the {} bones it moves '{}' has {}, not {}; choose an action of this "
    "rig.": (
        "アクション「{0}」は別のリグ用です。動かす{1}個のボーンのうち「{2}」にあるのは{3}で、{4}がありません。"
        "このリグのアクションを選択してください。"
    ),
    "Action '{}' animates no bone of '{}'; choose one with keys for it.": (
        "アクション「{}」は「{}」のボーンを動かしていません。このリグのキーを持つアクションを選んでください。"
    ),
    "Action '{}' animates none of the bones to smooth; choose others.": (
        "アクション「{}」は、滑らかにするボーンをどれも動かしません。別のボーンを選択してください。"
    ),
    "Action '{}' is linked from a library; make a copy of it and smooth that.": (
        "アクション「{}」はライブラリからリンクされています。コピーを作成し、そちらを滑らかにしてください。"
    ),
    "The F-curve {} has a modifier; apply or mute it, then smooth the pop.": (
        "Fカーブ{}にモディファイアーがあります。適用またはミュートしてから、ポップを滑らかにしてください。"
    ),
    "Frame {} has nothing to smooth: '{}' has keys from frame {} to {}; go to the first frame after the pop.": (
        "フレーム{}には滑らかにするものがありません。「{}」のキーはフレーム{}～{}にあります。"
        "ポップ直後の最初のフレームに移動してください。"
    ),
    "Frame {} is no place to cut '{}', which has keys from frame {} to {}; cut it after frame {} and not after {}.": (
        "フレーム{}では「{}」をカットできません。キーはフレーム{}～{}にあります。"
        "フレーム{}より後、フレーム{}までの位置でカットしてください。"
    ),
    "Frame {} lies outside '{}', which has keys from frame {} to {}; choose a frame in between.": (
        "フレーム{}は「{}」の範囲外です。キーはフレーム{}～{}にあります。その間のフレームを選択してください。"
    ),
    "The cut must be at a whole frame of '{}', not {}.": (
        "カットは「{}」の整数フレームで行う必要があります（{}は不可）。"
    ),
    "'{}' begins at frame {}, not after '{}' at {}; put the clips in order, a frame apart at least.": (
        "「{0}」はフレーム{1}から始まり、フレーム{3}の「{2}」より後になっていません。"
        "クリップを順番に、1フレーム以上離して並べてください。"
    ),
    "There is no clip to play; name at least one.": "再生するクリップがありません。少なくとも1つ指定してください。",
    "The blend of {} s is longer than the {} s that '{}' plays from frame {} on; shorten it.": (
        "ブレンド{0}秒は、「{2}」のフレーム{3}以降の{1}秒より長くなっています。短くしてください。"
    ),
    "The blend of {} s is longer than the {} s that '{}' plays from frame {} on; shorten the blend or enter the clip "
    "earlier.": (
        "ブレンド{0}秒は、「{2}」のフレーム{3}以降の{1}秒より長くなっています。"
        "ブレンドを短くするか、クリップにもっと早いフレームから入ってください。"
    ),
    "Frames {} to {} do not lie within '{}', which has keys from frame {} to {}; choose frames in between.": (
        "フレーム{}～{}は「{}」の範囲外です。キーはフレーム{}～{}にあります。その間のフレームを選択してください。"
    ),
    "'{}' from frame {} to {} is too short for a loop; it needs five frames.": (
        "「{}」のフレーム{}～{}はループには短すぎます。5フレーム必要です。"
    ),
    "The blend must be 0 to {} s, half of the loop, not {} s.": (
        "ブレンドは0～{}秒（ループの半分）にしてください（{}秒は不可）。"
    ),
    "Root motion {} is unknown; use {}.": "ルートモーション{}は不明です。{}を使用してください。",
    "The blend factor of bone '{}' must be 0 or more, not {}.": (
        "ボーン「{}」のブレンド係数は0以上にしてください（{}は不可）。"
    ),
    "'{}' or '{}' is too short to be cut; choose longer ones.": (
        "「{}」または「{}」はカットするには短すぎます。もっと長いものを選択してください。"
    ),
    "Cut '{}' at frame {}, enter '{}' at {} (difference {}).": (
        "「{}」をフレーム{}でカットし、「{}」にフレーム{}から入ります（差 {}）。"
    ),
    "Action '{}' is linked from a library; make a copy of it to key the look-at.": (
        "アクション「{}」はライブラリからリンクされています。ルックアットにキーを打つには、コピーを作成してください。"
    ),
    "Action '{}' is blended onto the NLA of '{}', as the result would be; set its blending to Replace with influence "
    "1.": (
        "アクション「{}」は「{}」のNLAにブレンドされており、結果もそうなります。"
        "ブレンド方法を「置き換え」、影響を1にしてください。"
    ),
    "Fewer than two of the scene's markers are called like actions; name them after the clips to play.": (
        "アクションと同名のマーカーがシーンに2つありません。再生するクリップの名前をマーカーに付けてください。"
    ),
    # NLA strips
    "Strip '{}' from frame {} to {} ({} s).": "ストリップ「{}」を作成しました。フレーム{}～{}（{}秒）。",
    "{} strips of '{}' are selected; select the two to join.": (
        "「{1}」のストリップが{0}個選択されています。つなぐ2つを選択してください。"
    ),
    "Strip '{}' is not in the NLA of '{}'; select two of its strips.": (
        "ストリップ「{0}」は「{1}」のNLAにありません。「{1}」のストリップを2つ選択してください。"
    ),
    "Strip '{}' does not begin after '{}'; select two that follow each other.": (
        "ストリップ「{}」は「{}」より後に始まっていません。前後に並ぶ2つを選択してください。"
    ),
    "Strip '{}' hides '{}' to its end; put it on a lower track.": (
        "ストリップ「{0}」が「{1}」を終わりまで隠しています。「{0}」を下のトラックに移動してください。"
    ),
    "Strip '{}' holds its first pose above '{}'; set its Extrapolation to Hold Forward.": (
        "ストリップ「{}」が「{}」の上で最初のポーズを保持しています。外挿を「前方保持」にしてください。"
    ),
    "Strip '{}' holds its last pose above '{}'; set its Extrapolation to Nothing.": (
        "ストリップ「{}」が「{}」の上で最後のポーズを保持しています。外挿を「なし」にしてください。"
    ),
    "Between '{}' and '{}' is a gap in which nothing plays; move them together, or set the first one's Extrapolation "
    "to Hold Forward.": (
        "「{0}」と「{1}」の間に何も再生されない隙間があります。"
        "間を詰めるか、「{0}」の外挿を「前方保持」にしてください。"
    ),
    "Strip '{}' is blended in for longer than the transition; set its Blend In to 0.": (
        "ストリップ「{}」のブレンドインがトランジションより長くなっています。ブレンドインを0にしてください。"
    ),
    "Strip '{}' is blended out before the transition; set its Blend Out to 0.": (
        "ストリップ「{}」がトランジションの前にブレンドアウトします。ブレンドアウトを0にしてください。"
    ),
    "Strip '{}' is too short for a transition; it must show for two frames at least.": (
        "ストリップ「{}」はトランジションには短すぎます。少なくとも2フレーム表示される必要があります。"
    ),
    "Strip '{}' has no slot of its action chosen, so it moves nothing; choose one.": (
        "ストリップ「{}」でアクションのスロットが選択されていないため、何も動きません。選択してください。"
    ),
    "Strip '{}' {}; {} and try again.": "ストリップ「{}」は{}。{}、もう一度実行してください。",
    "The blend of {} s is longer than the {} s that strip '{}' shows; shorten it.": (
        "ブレンド{0}秒は、ストリップ「{2}」が表示される{1}秒より長くなっています。短くしてください。"
    ),
    # Values that solvers refuse
    "Method {} is unknown; use {}.": "方式{}は不明です。{}を使用してください。",
    "Method {} is unknown; use geodesic or component.": (
        "方式{}は不明です。geodesicまたはcomponentを使用してください。"
    ),
    "Kind {} is unknown; use rotation or vector.": "種類{}は不明です。rotationまたはvectorを使用してください。",
    "Integrator {} is unknown; use one of {}.": "積分方法{}は不明です。{}のいずれかを使用してください。",
    "Euler order {} is unknown; use one of {}.": "オイラー角の順序{}は不明です。{}のいずれかを使用してください。",
    "The settle time must be longer than 0 seconds, not {}.": "整定時間は0秒より長くしてください（{}は不可）。",
    "The damping ratio must be 0 or more, not {}.": "減衰比は0以上にしてください（{}は不可）。",
    "The speed limit must be 0 (none) or more, not {}.": "速度制限は0（なし）以上にしてください（{}は不可）。",
    "The speed limit must be above 0, not {}; leave it out for none.": (
        "速度制限は0より大きくしてください（{}は不可）。制限しない場合は省略してください。"
    ),
    "The feed-forward must lie between 0 and 1, not {}.": "先読みは0から1の間にしてください（{}は不可）。",
    "Release angle and release speed must be above 0, release time 0 or more.": (
        "リリースの角度と速度は0より大きく、時間は0以上にしてください。"
    ),
    "The time step must be longer than 0 seconds, not {}.": "時間刻みは0秒より長くしてください（{}は不可）。",
    "The longest step must be longer than 0 seconds, not {}.": "最長ステップは0秒より長くしてください（{}は不可）。",
    "The blend time must be 0 or more seconds, not {}.": "ブレンド時間は0秒以上にしてください（{}は不可）。",
    "The half-life must be longer than 0 seconds, not {}.": "半減期は0秒より長くしてください（{}は不可）。",
    "The size must be more than 0, not {}.": "サイズは0より大きくしてください（{}は不可）。",
    "The largest angle must be 0 or more radians, not {}.": "最大角度は0ラジアン以上にしてください（{}は不可）。",
    "The weight of {} must be 0 or more, not {}.": "{}のウェイトは0以上にしてください（{}は不可）。",
    "The {} must be 0 or more, not {}.": "{}は0以上にしてください（{}は不可）。",
    "The {} must be more than 0, not {}.": "{}は0より大きくしてください（{}は不可）。",
    "The {} holds a value that is not a finite number.": "{}に有限でない数値が含まれています。",
    "The {} holds a value that is not a finite number; mend its animation.": (
        "{}に有限でない数値が含まれています。アニメーションを修正してください。"
    ),
    "{} holds a value that is not a finite number; mend the animation it came from.": (
        "{}に有限でない数値が含まれています。元のアニメーションを修正してください。"
    ),
    "Positions of the {} are not all finite numbers; mend the animation's keys.": (
        "{}の位置に有限でない数値が含まれています。アニメーションのキーを修正してください。"
    ),
    "Values of the {} are not all finite numbers; mend the animation's keys.": (
        "{}の値に有限でない数値が含まれています。アニメーションのキーを修正してください。"
    ),
    "A quaternion of the {} has length 0, which is no rotation; mend the keys.": (
        "{}に、回転を表さない長さ0のクォータニオンがあります。キーを修正してください。"
    ),
    "A target rotation is a quaternion of length 0; give unit quaternions.": (
        "目標の回転に長さ0のクォータニオンがあります。単位クォータニオンを指定してください。"
    ),
    "A step of {} s is not stable with the {} integrator (limit {} s); it is divided into {}.": (
        "積分方法{1}では{0}秒のステップは安定しません（限界は{2}秒）。{3}個に分割します。"
    ),
    "The time of an event is not a number.": "イベントの時刻が数値ではありません。",
    "An event names target {}, but there are {}.": "イベントがターゲット{}を指定していますが、ターゲットは{}個です。",
    "The chain has no bones; it needs at least the aiming bone.": (
        "チェーンにボーンがありません。少なくともエイムボーンが必要です。"
    ),
    "The chain's {} must be {} positive numbers.": "チェーンの{}は{}個の正の数にしてください。",
    "The bones that make up for the others must stand first in the chain.": (
        "他のボーンの不足を補うボーンは、チェーンの先頭側に並べてください。"
    ),
    "A step takes 0 seconds or more, not {}.": "1ステップの長さは0秒以上でなければなりません（{}）。",
    "The chain has {} bones now and had {}; begin anew.": (
        "チェーンのボーンが{}本になりました（以前は{}本）。最初からやり直してください。"
    ),
    "{} chain bones, rotations {}, positions {} and targets {} do not fit together.": (
        "チェーンのボーン数{}、回転{}、位置{}、ターゲット{}が互いに合いません。"
    ),
    "Rotations {}, positions {} and targets {} do not fit together.": (
        "回転{}、位置{}、ターゲット{}の大きさが合いません。"
    ),
    "The chain has {} bones, but the shot {}.": "チェーンのボーンは{}個ですが、ショットには{}個あります。",
    "A look-at needs at least one frame and a time step above 0.": (
        "ルックアットには1フレーム以上と、0より大きい時間刻みが必要です。"
    ),
    "There is no bone called {}.": "ボーン{}がありません。",
    "A skeleton needs a name of its own for every bone.": "スケルトンのボーン名は重複できません。",
    "A skeleton of {} bones needs {} of shape {}, not {}.": (
        "{}ボーンのスケルトンでは、{}の形状は{}でなければなりません（{}は不可）。"
    ),
    "Bone {} stands before its parent; list parents first.": "ボーン{}が親より前にあります。親を先に並べてください。",
    "Head, eyes and targets must be arrays {}, not {}.": "頭・目・ターゲットは{}の配列にしてください（{}は不可）。",
    "The eyes' forward axes must be an array (eyes, 3), not {}.": (
        "目の前方向の軸は(目の数, 3)の配列にしてください（{}は不可）。"
    ),
    "The axes of eyes and head must have a length, and the head's must not be parallel.": (
        "目と頭の軸には長さが必要です。また、頭の2つの軸は平行にできません。"
    ),
    "The eyes' {} must be 0 or more.": "目の{}は0以上にしてください。",
    "Saccades and blinks need a time above 0.": "サッカードとまばたきの時間は0より大きくしてください。",
    "Microsaccades need a rate above 0 that leaves each of them its time.": (
        "マイクロサッカードの頻度は0より大きく、1回ごとの時間が足りる値にしてください。"
    ),
    "The legs' {} must be of shape (frames, legs, {}).": (
        "脚の{}の形状は(フレーム数, 脚の数, {})でなければなりません。"
    ),
    "The target needs at least one sample along its first axis.": "目標には先頭の軸に沿って1サンプル以上必要です。",
    "Target rotations must have shape (F, ..., 4), not {}.": (
        "目標の回転の形状は(F, ..., 4)でなければなりません（{}は不可）。"
    ),
    "Both clips must have the same joints, not {} and {}.": (
        "両方のクリップの関節数を同じにしてください（{}と{}は不可）。"
    ),
    "Root {} is none of the {} joints.": "ルート{}は{}個の関節のいずれでもありません。",
    "Shape {} of the {} must be (frames, joints, 3), neither being 0.": (
        "{1}の形状{0}は、どれも0でない（フレーム, 関節, 3）でなければなりません。"
    ),
    "Shape {} of the {} must be {}.": "{1}の形状{0}は{2}でなければなりません。",
    "Weights of the joints must be {} numbers of 0 or more, one of them more.": (
        "関節のウェイトは{}個の0以上の数で、少なくとも1つは0より大きくしてください。"
    ),
    "Contacts {} and {} must be ({}, feet) and ({}, feet).": (
        "接地{}と{}の形状は（{}, 足）と（{}, 足）でなければなりません。"
    ),
    "Source {} and target {} of a cross-fade must have one shape.": (
        "クロスフェードのソース{}とターゲット{}は同じ形状にしてください。"
    ),
    "Previous poses {} must be the last two frames of what target {} is all of.": (
        "直前のポーズ{}は、ターゲット{}と同じボーンの最後の2フレームでなければなりません。"
    ),
    "Blend times of shape {} must be one number or one for each bone {}.": (
        "ブレンド時間（形状{}）は、1つの数またはボーンごとの数{}にしてください。"
    ),
    "A path has no orientation; let the effector keep its own.": (
        "パスには向きがありません。エフェクターの向きを維持してください。"
    ),
    "All bones from '{}' to '{}' are locked; unlock one of their axes (Bone > Inverse Kinematics).": (
        "「{}」から「{}」までのボーンがすべてロックされています。いずれかの軸のロックを解除してください（ボーン > "
        "インバースキネマティクス）。"
    ),
    "Baked {} bones into {} ({} s); at most {} mm are left.": (
        "{}ボーンを{}にベイクしました（{}秒）。残りの誤差は最大{} mmです。"
    ),
    "Baked {} bones into {} ({} s); the target is out of reach at {} of {} frames, at the others at most {} mm are "
    "left.": (
        "{}ボーンを{}にベイクしました（{}秒）。ターゲットは{}フレーム（全{}フレーム中）で届かない位置にあり、他のフ"
        "レームの誤差は最大{} mmです。"
    ),
    "Baked {} bones into {}; the target is out of reach at all {} frames.": (
        "{}ボーンを{}にベイクしました。ターゲットは全{}フレームで届かない位置にあります。"
    ),
    "Baking IK: {} %   Esc: cancel": "IKをベイク中：{} %   Esc：キャンセル",
    "Bone '{}' does not inherit its parent's rotation, so the chain does not carry it; switch on Inherit Rotation, "
    "or let the chain begin there.": (
        "ボーン「{}」は親の回転を継承しないため、チェーンと一緒に動きません。回転の継承を有効にするか、そこからチェ"
        "ーンを始めてください。"
    ),
    "Bone '{}' hangs on nothing that could turn; choose a bone further down.": (
        "ボーン「{}」の上に回転できるボーンがありません。もっと先のボーンを選択してください。"
    ),
    "Bone '{}' has a pose that is not a number; mend its F-curves or constraints.": (
        "ボーン「{}」のポーズが数値ではありません。Fカーブまたはコンストレイントを修正してください。"
    ),
    "Bone '{}' has no motion path; calculate it first (Pose > Motion Paths).": (
        "ボーン「{}」にモーションパスがありません。先に計算してください（ポーズ > モーションパス）。"
    ),
    "Bone '{}' has zero scale; give it a scale above zero.": "ボーン「{}」のスケールが0です。0より大きくしてください。",
    "Bone '{}' is no control of this Rigify rig; choose the control that moves it.": (
        "ボーン「{}」はこのRigifyリグのコントロールではありません。それを動かすコントロールを選択してください。"
    ),
    "Bone '{}' is not below '{}'; choose an effector that '{}' carries, or another base.": (
        "ボーン「{}」は「{}」の下にありません。「{}」の下にあるエフェクターか、別の根元を選択してください。"
    ),
    "Bone '{}' is pinned; unpin it to move it.": (
        "ボーン「{}」はピン留めされています。動かすにはピン留めを解除してください。"
    ),
    "Bone '{}' is posed by the constraint '{}' on '{}' already; mute that constraint, or choose other bones.": (
        "ボーン「{}」はすでにコンストレイント「{}」（ボーン「{}」）で動かされています。そのコンストレイントをミュー"
        "トするか、別のボーンを選択してください。"
    ),
    "Calculate the bone's motion path first (Pose > Motion Paths)": (
        "先にボーンのモーションパスを計算してください（ポーズ > モーションパス）"
    ),
    "Choose a target to follow": "追うターゲットを選択してください",
    "Select the bone that is to be moved, a hand say": "手など、動かすボーンを選択してください",
    "Target '{}' is infinitely far away at frame {}; mend its animation.": (
        "ターゲット「{}」がフレーム{}で無限に遠くにあります。アニメーションを修正してください。"
    ),
    "The chain of '{}' does not come to its target: constraints, or a bone scaled unevenly, move '{}' and the "
    "bones below it otherwise; mute those constraints, or choose other bones.": (
        "「{}」のチェーンがターゲットに届きません。コンストレイントまたは不均一なスケールが「{}」とその下のボーンを"
        "別の向きに動かしています。そのコンストレイントをミュートするか、別のボーンを選択してください。"
    ),
    "The chain of '{}' has only one bone, '{}'; make it longer, or choose a bone further down.": (
        "「{}」のチェーンにはボーンが「{}」の1つしかありません。チェーンを長くするか、もっと先のボーンを選択してく"
        "ださい。"
    ),
    "The effector has no target; choose an object for it to follow.": (
        "エフェクターにターゲットがありません。追うオブジェクトを選択してください。"
    ),
    "The motion path of '{}' is that of the bone's other end; calculate it for the end that is to follow it, or change "
    "Point.": (
        "「{}」のモーションパスはボーンの反対の端のものです。追わせる端について計算するか、対象点を変更してください。"
    ),
    "The path to follow has no points, or one that is not finite; record it again.": (
        "追うパスに点がないか、有限でない点があります。記録し直してください。"
    ),
    "The point to follow, {}, is not finite; give three numbers.": (
        "追う点{}が有限ではありません。3つの数値を指定してください。"
    ),
    "The target '{}' moves with the chain that follows it; choose one outside it.": (
        "ターゲット「{}」は、それを追うチェーンと一緒に動きます。チェーンの外のものを選択してください。"
    ),
    "No contact of '{}' was found between frames {} and {}; raise Speed or Height, or mark it by hand.": (
        "「{}」の接触がフレーム{}から{}までに見つかりません。速度か高さを上げるか、手動で指定してください。"
    ),
    "The contact from frame {} to {} is not between {} and {}; widen the frame range.": (
        "フレーム{}から{}までの接触が{}から{}の範囲にありません。フレーム範囲を広げてください。"
    ),
    "The contact from frame {} to {} is reversed; put the smaller number first.": (
        "フレーム{}から{}までの接触が逆です。小さい方を先にしてください。"
    ),
    "There is no contact to clean up; mark one or have them detected.": (
        "整える接触がありません。指定するか、検出させてください。"
    ),
    "Two contacts overlap at frame {}; let one end before the other begins.": (
        "2つの接触がフレーム{}で重なっています。一方が終わってから他方が始まるようにしてください。"
    ),
    "'{}' stays where it touches, frames {}; at most {} mm are left.": (
        "「{}」は触れている位置に留まります（フレーム{}）。残りの誤差は最大{} mmです。"
    ),
    "Select bones in pose mode": "ポーズモードでボーンを選択してください",
    "A bone is dragged already; end that with Enter or Esc": (
        "すでにボーンをドラッグ中です。EnterまたはEscで終了してください"
    ),
    "Action '{}' is linked from a library; make a copy of it to key the pose.": (
        "アクション「{}」はライブラリからリンクされています。ポーズにキーを打つにはコピーを作成してください。"
    ),
    "Go into pose mode (Ctrl+Tab) to drag bones": "ボーンをドラッグするにはポーズモードにしてください（Ctrl+Tab）",
    "Keyed {} bones at frame {}.": "{}ボーンにフレーム{}でキーを打ちました。",
    "The file was changed by an undo while a bone was dragged; drag again.": (
        "ボーンのドラッグ中に取り消しでファイルが変わりました。もう一度ドラッグしてください。"
    ),
    "The point to drag to is not finite; move the mouse back.": (
        "ドラッグ先の点が有限ではありません。マウスを戻してください。"
    ),
    "There is no 3D viewport to drag in; open one.": "ドラッグする3Dビューポートがありません。開いてください。",
    "There is no window to drag in.": "ドラッグするウィンドウがありません。",
    # Dynamics
    "Interpolating keys: {} %   Esc: cancel": "キーを補間中：{} %   Esc：キャンセル",
    "Interpolated {} poses of {} bones ({} s); all are hit.": (
        "{1}本のボーンの{0}個のポーズを補間しました（{2}秒）。すべてのポーズを通ります。"
    ),
    "Interpolated {} poses of {} bones ({} s); too weak for {} keys: {}.": (
        "{1}本のボーンの{0}個のポーズを補間しました（{2}秒）。弱すぎて{3}個のキーに届きません：{4}。"
    ),
    "Interpolate keys into a new action first": "先にキーを新規アクションへ補間してください",
    "Select the bones that are to move, in pose mode": "ポーズモードで、動かすボーンを選択してください",
    "Key at least two poses first": "先に少なくとも2つのポーズにキーを打ってください",
    "'{}' has no action; key at least two poses first.": (
        "「{}」にアクションがありません。先に少なくとも2つのポーズにキーを打ってください。"
    ),
    "None of the selected bones has {} of its rotation in the range; key at least two poses, and select their keys.": (
        "選択ボーンの回転に、範囲内の{}がありません。少なくとも2つのポーズにキーを打ち、選択してください。"
    ),
    "None of the bones of '{}' that are meant has keys; key at least two poses.": (
        "「{}」の対象のボーンにキーがありません。少なくとも2つのポーズにキーを打ってください。"
    ),
    "Bone '{}' has only one key, at frame {}; in-betweens need at least two poses.": (
        "ボーン「{}」のキーはフレーム{}の1つだけです。補間には少なくとも2つのポーズが必要です。"
    ),
    "Bone '{}' has two keys on frame {}; delete one of them.": (
        "ボーン「{}」のフレーム{}にキーが2つあります。片方を削除してください。"
    ),
    "The keys of bone '{}' are out of order at frame {}; move one of them in the Graph editor to sort them.": (
        "ボーン「{}」のキーの順序がフレーム{}で乱れています。グラフエディターでキーを動かして並べ直してください。"
    ),
    "A key of bone '{}' is not a number; delete it and key the pose again.": (
        "ボーン「{}」に数値でないキーがあります。削除してポーズのキーを打ち直してください。"
    ),
    "The F-curves of bone '{}' are locked; unlock them in the Graph editor, or leave it out.": (
        "ボーン「{}」のFカーブがロックされています。グラフエディターで解除するか、選択から外してください。"
    ),
    "An F-curve of bone '{}' is muted; unmute it, or leave the bone out.": (
        "ボーン「{}」のFカーブがミュートされています。解除するか、選択から外してください。"
    ),
    "The rotation of bone '{}' is locked; unlock it in the sidebar's Item tab, or leave the bone out.": (
        "ボーン「{}」の回転がロックされています。サイドバーの「アイテム」タブで解除するか、選択から外してください。"
    ),
    "Bone '{}' carries nothing that has mass; give it some, switch its limb to FK, or leave it out.": (
        "ボーン「{}」が動かすものに質量がありません。質量を与えるか、手足をFKに切り替えるか、選択から外してください。"
    ),
    "Object '{}' has no size; give it, and its parents, a scale above zero.": (
        "オブジェクト「{}」に大きさがありません。親も含めてスケールを0より大きくしてください。"
    ),
    "No mesh that '{}' moves encloses a volume; use capsules.": (
        "「{}」が動かすメッシュに、閉じた体積がありません。カプセルを使ってください。"
    ),
    "The arms and legs of '{}' are not found by their names; spread its mass by volume.": (
        "「{}」の腕と脚が名前から見つかりません。質量を体積で配分してください。"
    ),
    "Measuring meshes: {} %   Esc: cancel": "メッシュを計測中：{} %   Esc：キャンセル",
    "{} bones weigh {} kg.": "{}本のボーンの質量は{} kgです。",
    "Choose a goal to reach": "手を伸ばす先を選択してください",
    "The reach has no goal; choose an object to reach for.": (
        "手を伸ばす先がありません。オブジェクトを選択してください。"
    ),
    "The point to reach, {}, is not finite; give three numbers.": (
        "手を伸ばす先の点{}が有限ではありません。3つの数値を指定してください。"
    ),
    "The goal '{}' moves with the chain that reaches for it; choose one outside it.": (
        "ゴール「{}」は、手を伸ばすチェーンと一緒に動きます。チェーンの外にあるものを選択してください。"
    ),
    "A reach takes time, but its duration is {} s; make it longer.": (
        "届くまでの時間が{}秒です。もっと長くしてください。"
    ),
    "Reaching: {} %   Esc: take the best so far   Esc again: cancel": (
        "リーチを計算中：{} %   Esc：ここまでの最良を採用   もう一度Esc：キャンセル"
    ),
    "Reached over frames {} to {} ({} s); {} mm are left, the cost is {} below that of the straight way.": (
        "フレーム{}から{}でゴールに届きました（{}秒）。残りは{} mm、コストはまっすぐな動きより{}小さくなりました。"
    ),
    "The physics engine MuJoCo is not installed; install the extension's zip made for this platform.": (
        "物理エンジンMuJoCoがインストールされていません。このプラットフォーム用のzipをインストールしてください。"
    ),
    "The physics engine MuJoCo does not load; install the extension's zip made for this platform.": (
        "物理エンジンMuJoCoを読み込めません。このプラットフォーム用のzipをインストールしてください。"
    ),
    "A body of {} joints needs as many names, not {}.": "{}個の関節を持つ体には同じ数の名前が必要です（現在{}個）。",
    "A body of {} joints needs {} of shape {}, not {}.": (
        "{}個の関節を持つ体の{}は形状{}でなければなりません（現在{}）。"
    ),
    "A capsule's length must be 0 m or more; give the bone a length.": (
        "カプセルの長さは0 m以上でなければなりません。ボーンに長さを与えてください。"
    ),
    "A capsule's radius must be above 0 m; make it larger.": (
        "カプセルの半径は0 mより大きくなければなりません。大きくしてください。"
    ),
    "A mesh's triangles must be an array (t, 3) of indices, not {}.": (
        "メッシュの三角形は、インデックスの配列(t, 3)でなければなりません（現在{}）。"
    ),
    "A mesh's vertices must be an array (v, 3) of finite numbers.": (
        "メッシュの頂点は、有限な数の配列(v, 3)でなければなりません。"
    ),
    "Build {} is unknown; use one of {}.": "体格{}は不明です。{}のいずれかを使ってください。",
    "Each of the {} triangles needs one owner; {} were given.": (
        "{}個の三角形それぞれに、属するボーンが1つ必要です（現在{}）。"
    ),
    "Inertia {} is unknown; use true or reference.": "慣性{}は不明です。trueかreferenceを使ってください。",
    "Joint {} stands before its parent, {}; list parents first.": (
        "関節{}がその親{}より前にあります。親を先に並べてください。"
    ),
    "Nothing moves the effector, the origin of joint {}; name a joint further out, or a point on its bone.": (
        "エフェクター（関節{}の原点）を動かすものがありません。もっと先の関節か、ボーン上の点を指定してください。"
    ),
    "Passive must be {} truth values, one for each joint.": (
        "パッシブには、関節ごとに1つずつ{}個の真偽値を指定してください。"
    ),
    "Pose, velocities and accelerations need the same leading axes.": (
        "ポーズ、速度、加速度の先頭の軸が一致していません。そろえてください。"
    ),
    "The bones have no mass that could be scaled; give at least one of them some.": (
        "ボーンに質量がありません。少なくとも1本に質量を与えてください。"
    ),
    "The density must be above 0 kg/m³; that of water is 1000.": (
        "密度は0 kg/m³より大きくなければなりません。水は1000です。"
    ),
    "The goal is out of reach by {} m; bring it nearer, or choose a longer chain.": (
        "ゴールまで{} m足りません。近づけるか、チェーンを長くしてください。"
    ),
    "The hand is at its goal already; move the goal.": "手はすでにゴールにあります。ゴールを動かしてください。",
    "The hand passes at {} s, but must pass between 0 and {} s.": (
        "経由点の時刻は{}秒ですが、0から{}秒の間でなければなりません。"
    ),
    "The hand stays {} m off its goal; choose a goal that the joints and their limits allow.": (
        "手がゴールから{} m外れたままです。関節とその制限で届くゴールを選択してください。"
    ),
    "The inertia of joint {} must be symmetric and positive about every axis; give the bone a thickness.": (
        "関節{}の慣性は対称で、どの軸についても正でなければなりません。ボーンに太さを与えてください。"
    ),
    "The keys must be in order of time, each at its own, but {} s follows {} s.": (
        "キーは時刻順で、それぞれ別の時刻でなければなりませんが、{1}秒の後に{0}秒があります。"
    ),
    "The mass of joint {} must be above 0 kg, not {}.": "関節{}の質量は0 kgより大きくなければなりません（現在{}）。",
    "The mesh encloses no volume; close its holes, or use capsules.": (
        "メッシュに閉じた体積がありません。穴をふさぐか、カプセルを使ってください。"
    ),
    "The number of passes must be a whole number, 0 or more, not {}.": (
        "パスの数は0以上の整数でなければなりません（現在{}）。"
    ),
    "The parents must be whole numbers, one for each of at least one joint, -1 for a root.": (
        "親は関節ごとに1つの整数（ルートは-1）で、関節は少なくとも1つ必要です。"
    ),
    "The pieces together have no mass; give at least one of them some.": (
        "すべて合わせても質量がありません。少なくとも1つに質量を与えてください。"
    ),
    "The reference body must have the same joints; make it from the same bones.": (
        "参照する体は同じ関節を持たなければなりません。同じボーンから作ってください。"
    ),
    "The residual of joint {} must lie between 0 and 1, not at {}; 0.001 is tight.": (
        "関節{}の残差は0と1の間でなければなりません（現在{}）。0.001で強く引かれます。"
    ),
    "The shape of the keys must be (k, {}, 4), not {}.": "キーの形状は(k, {}, 4)でなければなりません（現在{}）。",
    "The shape of the start must be ({}, 4), not {}.": "開始ポーズの形状は({}, 4)でなければなりません（現在{}）。",
    "The shape of the {} must be {}, not {}.": "{}の形状は{}でなければなりません（現在{}）。",
    "The strength of joint {} must be above 0; 1 is normal.": (
        "関節{}の強さは0より大きくなければなりません。標準は1です。"
    ),
    "The time to settle must be 0 s or more, not {}.": "収束の時間は0秒以上でなければなりません（現在{}）。",
    "The torque limit must be one number, {} or ({}, 3), not {}.": (
        "トルク制限は1つの数か、{}個か、({}, 3)でなければなりません（現在{}）。"
    ),
    "The torque limit of joint {} must be above 0 N m; make the joint passive to have no torque.": (
        "関節{}のトルク制限は0 N mより大きくなければなりません。トルクをなくすにはパッシブにしてください。"
    ),
    "The total mass must be above 0 kg, not {}.": "総質量は0 kgより大きくなければなりません（現在{}）。",
    "The {} must be above 0 {}, not {}.": "{}は0 {}より大きくなければなりません（現在{}）。",
    "The {} must be one number or {}, one for each joint, not {}.": (
        "{}は1つの数か、関節ごとに1つずつ{}個でなければなりません（現在{}）。"
    ),
    "The {} must be unit quaternions, w first; divide each by its length.": (
        "{}はwを先頭とする単位クォータニオンでなければなりません。それぞれを長さで割ってください。"
    ),
    "The {} of joint {} hold a value that is not a number; mend it.": (
        "関節{1}の{0}に数値でない値があります。修正してください。"
    ),
    "The {} of joint {} must be 0 or more, not {}.": "関節{1}の{0}は0以上でなければなりません（現在{2}）。",
    "There is nothing between fewer than two keys; give at least two.": (
        "キーが2つ未満では間がありません。少なくとも2つ指定してください。"
    ),
    "Torques must be of shape ({}, 3) or ({}, {}, 3), not {}.": (
        "トルクの形状は({}, 3)か({}, {}, 3)でなければなりません（現在{}）。"
    ),
    "What the hand passes must be in order of time, each at its own; spread the times.": (
        "経由点は時刻順で、それぞれ別の時刻でなければなりません。時刻を離してください。"
    ),
    # Directing the gaze
    "Target {} of the look-at on '{}' names nothing; choose an object for it.": (
        "ルックアット「{1}」のターゲット{0}には何も指定されていません。オブジェクトを選択してください。"
    ),
    "The look-at on '{}' has no target {}; choose one from its list.": (
        "ルックアット「{}」にターゲット{}はありません。リストから選択してください。"
    ),
    "Action '{}' is linked from a library and keys the targets; make a copy of it.": (
        "ターゲットのキーがあるアクション「{}」はライブラリからリンクされています。コピーを作成してください。"
    ),
    "No line of the list is highlighted; click the one to remove.": (
        "リストの行が選択されていません。外す行をクリックしてください。"
    ),
    "Nothing else is selected; select the object to look at, then the character with Shift.": (
        "他に何も選択されていません。見る対象のオブジェクトを選択し、続けてShiftでキャラクターを選択してください。"
    ),
    "Set a timeline marker named after an object where it is to be looked at": (
        "対象を見るフレームに、そのオブジェクト名のタイムラインマーカーを設定してください"
    ),
    "The scene has no markers; set one (M in the timeline) wherever something changes, and name it.": (
        "シーンにマーカーがありません。変化するフレームにマーカーを設定し（タイムラインでM）、名前を付けてください。"
    ),
    "The markers '{}' and '{}' are both at frame {}; move one of them.": (
        "マーカー「{}」と「{}」が同じフレーム{}にあります。どちらかを移動してください。"
    ),
    "The scene has nothing called {}; name each marker after an object, a bone (Hero:head), or off.": (
        "シーンに{}という名前のものがありません。マーカーの名前は、オブジェクト、ボーン（Hero:head）、またはoffにしてください。"
    ),
    "Directed the look-at on '{}' by {} marker.": "{1}個のマーカーでルックアット「{0}」の視線を設定しました。",
    "Directed the look-at on '{}' by {} markers.": "{1}個のマーカーでルックアット「{0}」の視線を設定しました。",
    "Select the armatures of all who take part": "会話に加わる全員のアーマチュアを選択してください",
    "Set a timeline marker named after a character where it begins to speak": (
        "話し始めるフレームに、キャラクター名のタイムラインマーカーを設定してください"
    ),
    "{} characters converse in {} turn.": "{}体のキャラクターの会話を設定しました（発言{}回）。",
    "{} characters converse in {} turns.": "{}体のキャラクターの会話を設定しました（発言{}回）。",
    "A conversation needs at least two characters; select the armatures of all who take part.": (
        "会話には2体以上のキャラクターが必要です。会話に加わる全員のアーマチュアを選択してください。"
    ),
    "A conversation needs at least two people, not {}.": "会話には2人以上が必要です（現在{}人）。",
    "Nobody speaks; say who begins when.": "話す人がいません。誰がいつ話し始めるかを指定してください。",
    "Nobody selected is called {}; name each marker after the armature that begins to speak there.": (
        "選択中のキャラクターに{}はいません。マーカーの名前は、そこで話し始めるアーマチュアの名前にしてください。"
    ),
    "'{}' speaks but does not take part; add it to those who converse.": (
        "「{}」は話しますが、会話に加わっていません。加えてください。"
    ),
    "'{}' begins to speak at frame {}, but all ends at {}; go on longer.": (
        "「{}」はフレーム{}で話し始めますが、フレーム{}で終わります。終わりを延ばしてください。"
    ),
    "The look-at of '{}' has keys there already, of another conversation perhaps; choose Replace to delete them.": (
        "「{}」のルックアットには、その範囲にすでにキーがあります（別の会話など）。削除するには「置き換え」を選択してください。"
    ),
    "The look-at on '{}' of '{}' is muted; unmute it to let '{}' take part.": (
        "「{1}」のルックアット「{0}」はミュートされています。「{2}」を会話に加えるにはミュートを解除してください。"
    ),
    "Each turn of a conversation must begin after the one before, and the end be last.": (
        "会話の発言は時間順に始まり、終わりは最後でなければなりません。"
    ),
    "The speakers must be numbers from 0 to {}.": "話し手は0から{}までの番号で指定してください。",
    "The reaction times must be 0 or more, the shorter first, not {} and {}.": (
        "反応時間は0以上で、短い方を先に指定してください（現在{}と{}）。"
    ),
    "The amount of glances must be between 0 and 1, not {}.": "視線外しは0から1の間にしてください（現在{}）。",
    "The seed must be 0 or more, not {}.": "シードは0以上にしてください（現在{}）。",
}
"""What errors, reports and greyed-out operators say, with holes for what is known only then."""

PIECES = {
    # Inverse kinematics
    "base": "ベース",
    "euler_maximum": "オイラー角の最大値",
    "euler_minimum": "オイラー角の最小値",
    "goals": "目標",
    "locks": "ロック",
    "maximum": "最大値",
    "minimum": "最小値",
    "mobility of the base": "ベースの動きやすさ",
    "offset of an effector": "エフェクターのオフセット",
    "offsets": "オフセット",
    "orientation": "向き",
    "pole": "ポール",
    "rest": "レスト",
    "stiffness": "剛性",
    "strength of a goal": "目標の強さ",
    "strengths": "強さ",
    "weight of the orientation": "向きのウェイト",
    # Where a bake went, and how much of it
    "a new action": "新規アクション",
    "the current action": "現在のアクション",
    "a new NLA layer": "新規NLAレイヤー",
    "1 bone": "1ボーン",
    "{} bones": "{}ボーン",
    # Transitions
    "source": "ソース",
    "destination": "接続先",
    "frame {} ({} s)": "フレーム{}（{}秒）",
    ", placed by '{}'": "、「{}」で配置",
    "; {} bones are not on this rig": "、このリグにないボーン{}個",
    "; it turns on the way, so its F-curves do not repeat": "。途中で回転するため、Fカーブは繰り返しません",
    "action": "アクション",
    # Problems of a strip, and what to do first
    "plays no action": "アクションを再生しません",
    "select strips made of actions": "アクションのストリップを選択し",
    "is muted": "ミュートされています",
    "unmute it": "ミュートを解除し",
    "does not replace what is below it": "下にあるものを置き換えません",
    "set its blending to Replace": "ブレンド方法を「置き換え」にし",
    "has an influence of its own": "独自の影響を持っています",
    "switch Animated Influence off": "「影響のアニメーション」をオフにし",
    "has an animated time": "時間がアニメーションしています",
    "switch Animated Strip Time off": "「時間のアニメーション」をオフにし",
    "has modifiers": "モディファイアーがあります",
    "mute them": "それらをミュートし",
    # Lists of names
    "none of them": "0個",
    "only {}": "{}のみ",
    " and {} more": "、他{}個",
    # Quantities that solvers check
    "target": "ターゲット",
    "pose": "ポーズ",
    "previous poses": "直前のポーズ",
    "feet": "足",
    "contacts": "接地",
    "velocities": "速度",
    "velocity": "速度",
    "speed": "速度",
    "offset": "オフセット",
    "duration": "長さ",
    "time": "時間",
    "time step": "時間刻み",
    "size": "サイズ",
    "height": "高さ",
    "number of cuts": "カットの数",
    "distance": "間隔",
    "history": "カット前のフレーム数",
    "room": "カット後のフレーム数",
    "parents": "親",
    "rotations": "回転",
    "heads": "ヘッド",
    "tails": "テール",
    "(frames, bones, 4)": "（フレーム, ボーン, 4）",
    "(frames, bones, coordinates)": "（フレーム, ボーン, 座標）",
    "selected keys": "選択中のキー",
    "accelerations": "加速度",
    "centers": "重心",
    "damping": "減衰",
    "effector's point": "エフェクターの点",
    "goal": "ゴール",
    "gravity": "重力",
    "inertias": "慣性",
    "key times": "キーの時刻",
    "keys": "キー",
    "masses": "質量",
    "residual": "残差",
    "root's positions": "ルートの位置",
    "root's rotations": "ルートの回転",
    "start": "開始ポーズ",
    "strength": "強さ",
    "time between frames": "フレーム間の時間",
    "torques": "トルク",
    "via": "経由点",
}
"""What stands in the holes of sentences and is no name."""
